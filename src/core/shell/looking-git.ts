/** Sub-commands of git that only look, and the options they may have. git accepts abbreviations, so options are written out. */
import { givenOptions, type OptionList, optionList } from './option-list.ts'

const GLOBAL = optionList('-P -C: --no-pager --no-optional-locks --literal-pathspecs --no-replace-objects')

const HISTORY = optionList(`
  -pusRabwWziEFPgmcrtqD -n: -U: -G: -S: -L: -l: -M? -C? -B? -X? -# --oneline --stat? --numstat --shortstat --summary
  --name-only --name-status --graph --decorate? --no-decorate --all --branches? --tags? --remotes? --glob= --exclude=
  --since= --until= --after= --before= --author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case
  --extended-regexp --fixed-strings --perl-regexp --max-count= --skip= --pretty? --format= --abbrev-commit --abbrev?
  --no-abbrev --date= --relative-date --reverse --topo-order --date-order --first-parent --merges --no-merges --follow
  --patch --no-patch --patch-with-stat --raw --unified= --word-diff? --color? --no-color --color-words? --color-moved?
  --cached --staged --merge-base --exit-code --quiet --no-ext-diff --no-textconv --no-renames --find-renames?
  --find-copies? --diff-filter= --diff-merges= --ignore-space-change --ignore-all-space --ignore-blank-lines
  --ignore-cr-at-eol --ignore-space-at-eol --minimal --patience --histogram --diff-algorithm= --function-context
  --relative? --no-prefix --src-prefix= --dst-prefix= --binary --full-index --check --submodule? --ignore-submodules?
  --dirstat? --compact-summary --pickaxe-regex --pickaxe-all --text --root --cc --walk-reflogs --source --left-right
  --left-only --right-only --cherry-pick --cherry-mark --cherry --boundary --simplify-by-decoration --full-history
  --ancestry-path? --not --notes? --no-notes --no-walk? --parents --children --count --numbered --email --group=
  --base --ours --theirs`)

const named = (names: string, list: OptionList) => names.split(' ').map((name) => [name, list] as const)

const LISTS: ReadonlyMap<string, OptionList> = new Map([
  ...named('log diff show rev-list diff-tree diff-files diff-index shortlog reflog whatchanged', HISTORY),
  [
    'status',
    optionList(
      '-sbvz -u? --short --branch --porcelain? --long --show-stash --ignored? --untracked-files? --ahead-behind --no-renames --find-renames? --verbose --ignore-submodules?',
    ),
  ],
  [
    'blame',
    optionList(
      '-ltbwsefnpc -L: -M? -C? --porcelain --line-porcelain --since= --first-parent --date= --show-email --show-name --show-number --abbrev=',
    ),
  ],
  [
    'grep',
    optionList(
      '-nilLcwvEFGPohHpWrqaIz -e: -f: -A: -B: -C: -m: -# --line-number --ignore-case --name-only --files-with-matches --files-without-match --count --word-regexp --invert-match --extended-regexp --fixed-strings --perl-regexp --only-matching --untracked --cached --color? --no-color --heading --break --and --or --not --all-match --context= --after-context= --before-context= --max-depth= --full-name --column --text --null --quiet --max-count=',
    ),
  ],
  [
    'branch',
    optionList(
      '-arvl --all --remotes --list --verbose --contains? --no-contains? --merged? --no-merged? --points-at= --sort= --format= --color? --no-color --show-current --abbrev? --no-abbrev --ignore-case',
    ),
  ],
  [
    'tag',
    optionList(
      '-l -n? --list --contains? --no-contains? --merged? --no-merged? --points-at= --sort= --format= --color? --ignore-case',
    ),
  ],
  ['remote', optionList('-v --verbose')],
  ['stash', HISTORY],
  ['worktree', optionList('-vz --verbose --porcelain')],
  ['cat-file', optionList('-tsep --batch? --batch-check?')],
  [
    'config',
    optionList('-lz --list --get --get-all --global --local --system --null --show-origin --show-scope'),
  ],
  ...named(
    'rev-parse describe name-rev show-ref merge-base count-objects check-ignore',
    optionList(
      '-qsv --abbrev-ref? --show-toplevel --short? --verify --symbolic-full-name --git-dir --is-inside-work-tree --show-prefix --tags --all --always --dirty? --long --abbrev= --contains --match= --exclude= --heads --head --is-ancestor --fork-point --verbose --quiet',
    ),
  ),
  [
    'ls-files',
    optionList(
      '-cdmoisuktvz --cached --deleted --modified --others --ignored --stage --exclude-standard --error-unmatch --full-name',
    ),
  ],
  ['ls-tree', optionList('-drtlz --long --name-only --name-status --full-name --full-tree --abbrev?')],
  ['for-each-ref', optionList('--count= --sort= --format= --points-at= --merged? --contains? --color?')],
])

export function gitLooks(args: readonly string[]): boolean {
  if (args.length === 1 && /^(--version|--help)$/.test(args[0] ?? '')) return true
  const global = givenOptions(args, GLOBAL, { leading: true })
  const [name = '', ...rest] = global?.operands ?? []
  const list = LISTS.get(name)
  const given = list && givenOptions(rest, list)
  if (!given) return false
  const { operands, options } = given
  const has = (...names: readonly string[]) => options.some((option) => names.includes(option.name))
  const [verb] = operands
  switch (name) {
    case 'branch':
    case 'tag':
      return (
        operands.length === 0 ||
        has('-l', '--list', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at')
      )
    case 'remote':
      return verb === undefined || verb === 'get-url'
    case 'stash':
      return verb === 'list' || verb === 'show'
    case 'worktree':
      return verb === 'list'
    case 'reflog':
      return verb === undefined || !/^(expire|delete|drop|write)$/.test(verb)
    case 'config':
      return has('-l', '--list', '--get', '--get-all') || verb === 'get' || verb === 'list'
    default:
      return true
  }
}
