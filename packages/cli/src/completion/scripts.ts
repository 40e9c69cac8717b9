// SPDX-License-Identifier: Apache-2.0

// The scripts that connect shells to `grove __complete`. Its last line is `:0` if file names complete the word, else
// `:4`, as with the commands that kubectl starts to complete its plugins.
import { terminal } from '../terminal/terminal.ts'
import { hiddenCommand, type shells } from './command.ts'

const scripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash: String.raw`# bash completion for grove
_grove() {
  local line=${'$'}{COMP_LINE:0:COMP_POINT} args=() candidate word prefix=
  read -ra args <<<"$line"
  [[ $line == *[[:space:]] ]] && args+=("")
  word=${'$'}{args[${'$'}{#args[@]}-1]}
  # bash replaces only the part of the word after the last equals sign or colon.
  [[ $word == *[=:]* ]] && prefix=${'$'}{word%"${'$'}{word##*[=:]}"}
  COMPREPLY=()
  while IFS= read -r candidate; do
    case $candidate in
      :0) compopt -o default 2>/dev/null ;;
      :4) ;;
      *)
        candidate=${'$'}{candidate%%$'\t'*}
        [[ $candidate == *= ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${'$'}{candidate#"$prefix"}")
        ;;
    esac
  done < <("${'$'}{args[0]}" ${hiddenCommand} "${'$'}{args[@]:1}" 2>/dev/null)
}
complete -F _grove grove
`,
  zsh: String.raw`#compdef grove
# zsh completion for grove
_grove() {
  local line value files=0
  local -a described
  while IFS= read -r line; do
    case $line in
      :0) files=1 ;;
      :4) ;;
      *)
        value=${'$'}{line%%$'\t'*}
        if [[ $line == *$'\t'* ]]; then
          described+=("${'$'}{value//:/\\:}:${'$'}{line#*$'\t'}")
        else
          described+=("${'$'}{value//:/\\:}")
        fi
        ;;
    esac
  done < <("${'$'}{words[1]}" ${hiddenCommand} "${'$'}{(@)words[2,CURRENT]}" 2>/dev/null)
  if (( files )); then
    _files
  else
    _describe 'grove' described
  fi
}
if [[ $funcstack[1] == _grove ]]; then
  _grove "$@"
else
  compdef _grove grove
fi
`,
  fish: `# fish completion for grove
function __grove_complete
    set -l args (commandline -opc) (commandline -ct)
    set -l lines ($args[1] ${hiddenCommand} $args[2..-1] 2>/dev/null)
    if test "$lines[-1]" = ':0'
        __fish_complete_path (commandline -ct)
    else
        string match -v ':4' -- $lines
    end
end
complete -c grove -f -a '(__grove_complete)'
`,
}

export function printScript(shell: (typeof shells)[number]): void {
  terminal().stdout.write(scripts[shell])
}
