/** Sub-commands of git that only look, and the options they may have. git takes abbreviations, so options are written out. */
import type { Field } from '../command.ts'
import { type GivenOptions, givenOptions, type OptionList, optionList } from '../given-options.ts'

const GLOBAL = optionList(
  '-Ppvh --no-pager --paginate --git-dir= --work-tree= --namespace= --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --bare --no-replace-objects --no-advice --version --help --html-path --man-path --info-path',
  '-C: -c:',
)

const HISTORY_OPTIONS = [
  '-pusRabwWziEFPgmcrtqD -n: -U: -G: -S: -L: -l: -M? -C? -B? -X? -#',
  '--oneline --stat? --numstat --shortstat --summary --name-only --name-status --graph --decorate? --no-decorate --all --branches? --tags? --remotes? --glob= --exclude=',
  '--since= --until= --after= --before= --author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --max-count= --skip= --min-parents= --max-parents=',
  '--pretty? --format= --abbrev-commit --no-abbrev-commit --abbrev? --no-abbrev --date= --relative-date --reverse --topo-order --date-order --author-date-order --first-parent --merges --no-merges --follow --full-diff',
  '--patch --no-patch --patch-with-stat --raw --unified= --word-diff? --word-diff-regex= --color? --no-color --color-words? --color-moved? --no-color-moved --color-moved-ws= --cached --staged --merge-base --no-index --exit-code --quiet',
  '--no-ext-diff --no-textconv --no-renames --find-renames? --find-copies? --find-copies-harder --break-rewrites? --diff-filter= --diff-merges= --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-cr-at-eol --ignore-space-at-eol --ignore-matching-lines=',
  '--minimal --patience --histogram --diff-algorithm= --function-context --relative? --no-relative --no-prefix --default-prefix --src-prefix= --dst-prefix= --line-prefix= --binary --full-index --check --submodule? --ignore-submodules? --dirstat? --cumulative --compact-summary --pickaxe-regex --pickaxe-all --text --root --cc --inter-hunk-context= --indent-heuristic',
  '--walk-reflogs --source --left-right --left-only --right-only --cherry-pick --cherry-mark --cherry --boundary --simplify-by-decoration --simplify-merges --full-history --dense --sparse --ancestry-path? --not --notes? --no-notes --encoding= --no-walk? --parents --children --count --objects --show-pulls --decorate-refs= --decorate-refs-exclude= --clear-decorations --log-size --use-mailmap --no-mailmap --mailmap --no-expand-tabs --stat-width= --stat-count= --remove-empty --no-commit-id --timestamp --disk-usage? --in-commit-order --creation-factor= --no-dual-color --dual-color --numbered --email --group= --base --ours --theirs --end-of-options',
]
const HISTORY = optionList(...HISTORY_OPTIONS)
/** No option of these starts or writes anything. */
const ANY = new Set(
  'rev-parse ls-files ls-tree describe name-rev for-each-ref show-ref merge-base count-objects var check-ignore check-attr cherry version'.split(
    ' ',
  ),
)
const LOOKING = new Map<string, OptionList>(
  Object.entries({
    ...Object.fromEntries(
      'log diff show rev-list diff-tree diff-files diff-index range-diff whatchanged'
        .split(' ')
        .map((name) => [name, HISTORY]),
    ),
    shortlog: optionList(...HISTORY_OPTIONS, '-snec -w? --summary'),
    status: optionList(
      '-sbvz -u? --short --branch --porcelain? --long --show-stash --ignored? --untracked-files? --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --column? --no-column --verbose --ignore-submodules?',
    ),
    blame: optionList(
      '-ltbwsefnpch -L: -M? -C? -S: --porcelain --line-porcelain --incremental --since= --reverse --first-parent --date= --show-email --root --show-name --show-number --color-lines --color-by-age --abbrev= --ignore-rev= --ignore-revs-file= --minimal',
    ),
    grep: optionList(
      '-nilLcwvEFGPohHpWrqaIz -e: -f: -A: -B: -C: -m: -# --line-number --ignore-case --name-only --files-with-matches --files-without-match --count --word-regexp --invert-match --extended-regexp --fixed-strings --perl-regexp --basic-regexp --only-matching --no-index --untracked --cached --color? --no-color --heading --break --show-function --function-context --and --or --not --all-match --context= --after-context= --before-context= --max-depth= --recursive --no-recursive --recurse-submodules --exclude-standard --no-exclude-standard --full-name --column --text --null --quiet --threads= --max-count= --no-textconv',
    ),
    'cat-file': optionList(
      '-tsep --batch? --batch-check? --batch-all-objects --unordered --buffer --follow-symlinks --allow-unknown-type',
    ),
    'ls-remote': optionList(
      '-htbq --heads --tags --refs --branches --quiet --exit-code --get-url --symref --sort=',
    ),
    help: optionList('-agc --all --guides --config'),
    branch: optionList(
      '-arvli --all --remotes --list --verbose --contains? --no-contains? --merged? --no-merged? --points-at= --sort= --format= --column? --no-column --color? --no-color --show-current --abbrev? --no-abbrev --ignore-case --omit-empty',
    ),
    tag: optionList(
      '-li -n? --list --contains? --no-contains? --merged? --no-merged? --points-at= --sort= --format= --column? --no-column --color? --ignore-case --omit-empty',
    ),
    remote: optionList('-vn --verbose --push --all'),
    stash: optionList(...HISTORY_OPTIONS, '-u --include-untracked --only-untracked'),
    worktree: optionList('-vz --verbose --porcelain'),
    reflog: HISTORY,
    config: optionList(
      '-z --global --local --system --worktree --null --show-origin --show-scope --type= --bool --int --path --includes --no-includes',
    ),
    fetch: optionList('-vpqta --dry-run --verbose --prune --quiet --tags --no-tags --all --prune-tags'),
    submodule: optionList('-q --recursive --cached --quiet --files'),
  }),
)

interface GitCall extends Pick<GivenOptions, 'operands' | 'options'> {
  name: string
}

/** Settings elsewhere than in `.git`, which nobody may change, could start something. */
const isOwnSetting = ({ name, value }: GivenOptions['options'][number]) =>
  name !== '--git-dir' || (!!value && !value.unknown && /(^|\/)\.git(\/|$)/.test(value.text))

/** The sub-command and what it is given; `undefined` if an option may do more than change what is shown. */
export function gitCall(fields: readonly Field[]): GitCall | undefined {
  const global = givenOptions(fields, GLOBAL, { leading: true })
  if (!global?.options.every(isOwnSetting)) return undefined
  const [sub] = global.operands
  if (!sub) return { name: '', operands: [], options: global.options }
  const name = sub.text === 'annotate' ? 'blame' : sub.text
  if (ANY.has(name)) return { name, operands: global.rest, options: [] }
  const list = LOOKING.get(name)
  const given = list && givenOptions(global.rest, list)
  // `ext::sh -c …` starts something.
  if (!given || given.operands.some(({ text }) => text.includes('::') && /^\w+::/.test(text)))
    return undefined
  return { name, operands: given.operands, options: given.options }
}

/** Whether the call lists what is there, for sub-commands that can do more. */
export function gitCallLooks({ name, operands, options }: GitCall): boolean {
  const first = operands[0]?.text
  const has = (...names: readonly string[]) => options.some((option) => names.includes(option.name))
  switch (name) {
    case 'branch':
      return (
        operands.length === 0 ||
        has('-l', '--list', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at')
      )
    case 'tag':
      return (
        operands.length === 0 ||
        has('-l', '--list', '--contains', '--no-contains', '--merged', '--no-merged', '--points-at')
      )
    case 'remote':
      return first === undefined || first === 'show' || first === 'get-url'
    case 'stash':
      return first === 'list' || first === 'show'
    case 'worktree':
      return first === 'list'
    case 'reflog':
      return first === undefined || first === 'show' || first === 'list' || first === 'exists'
    // The name of a setting alone asks for its value.
    case 'config':
      return operands.length === 1 && /^[\w-]+\./.test(first ?? '')
    case 'fetch':
      return has('--dry-run')
    case 'submodule':
      return first === undefined || first === 'status' || first === 'foreach'
    default:
      return true
  }
}
