/** Files and texts: which calls only look. */
import type { Field } from '../command.ts'
import { type GivenOptions, givenOptions, mayBeOption, optionList } from '../given-options.ts'
import { endOfExec } from '../starts/find.ts'

type Looks = (fields: readonly Field[]) => boolean

const only = (options: string, holds: (given: GivenOptions) => boolean = () => true): Looks => {
  const list = optionList(options)
  return (fields) => {
    const given = givenOptions(fields, list)
    return !!given && holds(given)
  }
}

const has = ({ options }: GivenOptions, names: RegExp) => options.some(({ name }) => names.test(name))

const TAR = optionList(
  '-tvzjJaRpO -f: -C: -T: --list --file= --verbose --gzip --bzip2 --xz --zstd --wildcards --no-wildcards --strip-components= --exclude= --full-time --directory= --numeric-owner --show-transformed-names --force-local --auto-compress --block-number --utc --totals',
)

export const TEXT: Record<string, Looks> = {
  sort: only(
    '-bdfgiMhnRrVcCmszu -k: -t: -S: --key= --field-separator= --reverse --numeric-sort --human-numeric-sort --unique --version-sort --ignore-case --stable --general-numeric-sort --month-sort --random-sort --zero-terminated --check? --parallel= --ignore-leading-blanks --dictionary-order --ignore-nonprinting --merge --debug --buffer-size= --sort= --batch-size= --files0-from=',
  ),
  shuf: only('-erz -n: -i: --head-count= --input-range= --echo --repeat --zero-terminated'),
  uniq: only(
    '-cdDuiz -f: -s: -w: --count --repeated --all-repeated? --unique --ignore-case --skip-fields= --skip-chars= --check-chars= --zero-terminated --group?',
    ({ operands }) => operands.length <= 1,
  ),
  xxd: only('-abeEipuCd -c: -g: -l: -s: -o: -n:', ({ operands }) => operands.length <= 1),
  file: only(
    '-bikLhnNprsvzZ0lE -f: -F: -m: -e: -P: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --special-files --uncompress --raw --print0 --extension --separator= --files-from= --magic-file= --exclude= --no-pad --version',
  ),
  date: only(
    '-uR -d: -r: -f: -I? --date= --utc --universal --iso-8601? --rfc-3339= --rfc-email --reference= --file= --debug',
    ({ operands }) => operands.every(({ text }) => text.startsWith('+')),
  ),
  tree: only(
    '-adfihpsugDCnFvtrcUqNQJXxlSA -L: -P: -I: -H: -T: --du --si --dirsfirst --filesfirst --noreport --prune --charset= --filelimit= --gitignore --sort= --timefmt= --matchdirs --ignore-case --inodes --device --fromfile --nolinks --metafirst',
  ),
  rg: only(
    '-iSsnNlcovwxFPUuaHhpq0bLI. -e: -f: -g: -t: -T: -A: -B: -C: -m: -j: -d: -M: -r: -E: --hidden --no-hidden --no-ignore --files --files-with-matches --files-without-match --count --count-matches --only-matching --ignore-case --smart-case --case-sensitive --line-number --no-line-number --no-heading --heading --with-filename --no-filename --type= --type-not= --type-add= --glob= --iglob= --context= --after-context= --before-context= --context-separator= --max-count= --max-depth= --max-columns= --max-columns-preview --max-filesize= --multiline --multiline-dotall --pcre2 --fixed-strings --word-regexp --line-regexp --invert-match --json --stats --color= --colors= --sort= --sortr= --replace= --no-messages --follow --vimgrep --trim --passthru --null --null-data --text --type-list --no-ignore-vcs --no-ignore-parent --no-ignore-dot --no-ignore-global --ignore-file= --no-config --quiet --column --no-column --pretty --threads= --regexp= --file= --encoding= --engine= --crlf --one-file-system --unrestricted --debug --include-zero --byte-offset --no-unicode --binary --version',
  ),
  ag: only(
    '-iSsnlLcovwQazuUfrRHt0 -A? -B? -C? -G: -m: -g: -p: --hidden --ignore= --ignore-dir= --nocolor --color --nogroup --group --nonumbers --numbers --count --depth= --files-with-matches --files-without-matches --literal --word-regexp --ignore-case --case-sensitive --smart-case --all-text --all-types --unrestricted --nofilename --filename --nobreak --noheading --heading --column --context= --before= --after= --max-count= --follow --stats --silent --vimgrep --invert-match --only-matching',
  ),
  yq: only(
    '-rPMCenjNycSs0R -o: -p: -I: --output-format= --input-format= --raw-output --prettyPrint --colors --no-colors --exit-status --null-input --tojson --no-doc --indent= --unwrapScalar? --compact-output --arg= --slurp --raw-input -y --yaml-output',
    // Of one yq `-s` reads everything at once, of the other it writes files.
    (given) => !has(given, /^-s$/),
  ),
  fd: only(
    '-HIuaLpigsF0q1 -d: -e: -t: -E: -S: -j: -c: -x: -X: --hidden --no-ignore --unrestricted --absolute-path --follow --full-path --ignore-case --case-sensitive --glob --regex --fixed-strings --print0 --max-depth= --min-depth= --exact-depth= --extension= --type= --exclude= --size= --changed-within= --changed-before= --owner= --color= --threads= --max-results= --quiet --show-errors --prune --no-ignore-vcs --strip-cwd-prefix --one-file-system --base-directory= --search-path=',
    (given) => !has(given, /^-[xX]$/),
  ),
  // What it makes is new, and below /tmp.
  mktemp: only('-dqut --directory --quiet --dry-run --suffix=', (given) =>
    given.operands.every(({ text, unknown }) =>
      !unknown && has(given, /^-t$/) ? /^[\w.-]+$/.test(text) : /^\/tmp\/\w[\w.-]*$/.test(text),
    ),
  ),
  // `init` starts what a file says.
  tput: only('-x', ({ operands: [first] }) => !!first && !/^(init|reset)$/.test(first.text)),
  find: (fields) => findLooks(fields),
  tar: (fields) => {
    const [first, ...rest] = fields
    // `tar tvf x`: the first word needs no dash.
    const dashed = first && !first.unknown && /^[a-zA-Z]+$/.test(first.text)
    const given = givenOptions(dashed ? [{ text: `-${first.text}` }, ...rest] : fields, TAR)
    return (
      !!given &&
      has(given, /^(-t|--list)$/) &&
      // `host:file` is fetched by another program.
      given.options.every(({ name, value }) => !/^(-f|--file)$/.test(name) || !value?.text.includes(':'))
    )
  },
  unzip: only('-lvtZ1pqz', (given) => has(given, /^-[lvtZpz]$/)),
  gzip: only('-cdltvqk --list --test --stdout --to-stdout --decompress --verbose --quiet --keep', (given) =>
    has(given, /^(-[clt]|--(list|test|stdout|to-stdout))$/),
  ),
}

const FIND = new Set(
  '-H -L -P -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -empty -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -newermt -newerct -newerat -newermm -perm -user -group -uid -gid -nouser -nogroup -links -inum -samefile -maxdepth -mindepth -depth -mount -xdev -prune -print -print0 -printf -ls -quit -not -and -or -a -o -true -false -readable -writable -executable -follow -daystart -noleaf -lname -ilname -fstype -used -warn -nowarn -ignore_readdir_race -D -O1 -O2 -O3 -files0-from'.split(
    ' ',
  ),
)
const FIND_VALUE =
  /^-(i?name|i?path|i?wholename|i?regex|regextype|x?type|size|[mac]time|[mac]min|[ac]?newer|newer[mca][mct]|perm|user|group|[ug]id|links|inum|samefile|maxdepth|mindepth|printf|i?lname|fstype|used)$/

/** Besides looking, it deletes what it finds, and does nothing else. */
export const findDeletes = (fields: readonly Field[]) =>
  fields.some(({ text }) => text === '-delete') && findLooks(fields, '-delete')

/** What `-exec` starts is a command of its own. */
function findLooks(fields: readonly Field[], besides?: string): boolean {
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] as Field
    const { text } = field
    if (/^-(exec|execdir|ok|okdir)$/.test(text)) {
      const end = endOfExec(fields, at + 1)
      if (end === -1) return false
      at = end
    } else if (FIND_VALUE.test(text)) at++
    else if (mayBeOption(field)) return false
    else if (text.startsWith('-') && text.length > 1 && !FIND.has(text) && text !== besides) return false
  }
  return true
}
