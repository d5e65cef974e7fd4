/**
 * How much work one check may be. Shell texts can stand for far more than they are long (`a=$a$a` doubles a value each
 * time), and they come from agents, so everything here that can grow is counted: steps, characters of values, entries
 * that are copied, places that a pattern is tried at. When the budget is used up the check ends with `BudgetExhausted`,
 * which refuses the call. Counted instead of timed, so that one text is always judged the same.
 *
 * One budget covers one check, whatever it calls: the outermost `withinBudget` opens it. A check is synchronous, which
 * is why the open budget can be a variable of this module.
 */

/** About a quarter of a second at worst. The longest command that may be checked needs a fraction of it. */
export const MOST_WORK = 2_000_000
/** How deep what is walked through may be nested, well below what the stack holds. */
const DEEPEST = 200

let open: { left: number; depth: number } | undefined

export class BudgetExhausted extends Error {
  constructor(why: string) {
    super(why)
    this.name = 'BudgetExhausted'
  }
}

export function withinBudget<T>(work: () => T): T {
  if (open) return work()
  open = { left: MOST_WORK, depth: 0 }
  try {
    return work()
  } finally {
    open = undefined
  }
}

/** Counts work before it is done. */
export function spend(amount: number): void {
  if (!open) return
  open.left -= amount
  // NaN and infinity are too much as well.
  if (!(open.left >= 0)) throw new BudgetExhausted('what it stands for is too large to be checked')
}

/** For work that calls itself. */
export function nested<T>(work: () => T): T {
  if (!open) return work()
  if (open.depth >= DEEPEST) throw new BudgetExhausted('it is nested too deeply')
  open.depth++
  try {
    return work()
  } finally {
    open.depth--
  }
}
