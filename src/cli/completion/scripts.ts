/**
 * The scripts for the shells. They contain no commands: at each completion they ask `reprise completion words`, so a
 * script stays right when Reprise is upgraded. It prints one candidate a line, with its description after a tab. Where
 * it prints nothing, files are completed.
 */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Bash makes words of `--state`, `=` and `queued`; the `=` is left out. */
const BASH = `# Completion of reprise for bash.
_reprise() {
  local program=\${COMP_WORDS[0]/#\\~/$HOME} words=() word line
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    [[ $word == '=' ]] || words+=("$word")
  done
  [[ \${COMP_WORDS[COMP_CWORD]} != '=' ]] || words+=('')
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <("$program" completion words -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _reprise reprise
`

const ZSH = `#compdef reprise
# Completion of reprise for zsh.
_reprise() {
  local -a lines candidates
  local line value
  lines=("\${(@f)$("\${words[1]/#\\~/$HOME}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "\${lines[@]}"; do
    [[ -n $line ]] || continue
    value=\${line%%$'\\t'*}
    candidates+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then
    _describe -V reprise candidates
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _reprise ]]; then
  _reprise "$@"
else
  compdef _reprise reprise
fi
`

const FISH = `# Completion of reprise for fish.
function __reprise_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  set -l found ($before[1] completion words -- $before[2..-1] "$current" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c reprise -f -a '(__reprise_complete)'
`

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH }
