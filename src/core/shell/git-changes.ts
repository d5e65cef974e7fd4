/** Which files a local sub-command of git may change: those of the work tree, and repositories named by a path. */
import { givenOptions, optionList } from './option-list.ts'
import type { ChangedFiles } from './protected-paths.ts'

const GLOBAL = optionList('-P -C: --no-pager --no-optional-locks')
const TREE =
  /^(checkout|restore|switch|stash|pull|merge|rebase|reset|clean|apply|am|cherry-pick|revert|rm|mv)$/

/** The files that are named are certain; that others of the tree are changed is only possible (`tree`). */
export function gitChanges(args: readonly string[]): ChangedFiles | null {
  const given = givenOptions(args, GLOBAL, { leading: true })
  const [name = '', ...rest] = given?.operands ?? []
  const dir = given?.options.findLast((option) => option.name === '-C')?.value
  const words = rest.filter((word) => !word.startsWith('-'))
  const elsewhere = dir === undefined ? [] : [{ path: dir, deep: false }]
  if (/^(push|fetch|pull|clone)$/.test(name))
    elsewhere.push(
      ...words.flatMap((word) =>
        /^(file:|[/~.])/.test(word) ? [{ path: word.replace(/^file:(\/\/)?/, ''), deep: true }] : [],
      ),
    )
  if (!TREE.test(name) || startsBranch(name, rest)) return { changes: elsewhere, unsure: false }
  const below = (word: string) => (dir === undefined ? word : `${dir}/${word}`)
  return {
    changes: [
      ...elsewhere,
      { path: dir ?? '.', deep: true, tree: true },
      // A pattern that git reads, such as `:(glob)**`, names no file.
      ...words.map((word) => ({ path: below(word.replace(/^:(\(.*\)|\/)/, '')), deep: true })),
    ],
    unsure: false,
  }
}

/** A new branch where one is changes no file. */
const startsBranch = (name: string, rest: readonly string[]) =>
  rest.length === 2 && /^(checkout -b|switch -c)$/.test(`${name} ${rest[0]}`)
