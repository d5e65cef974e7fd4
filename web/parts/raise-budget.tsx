/** Sets the budget of a job: the one that is used up, in dollars or in tokens; dollars if neither is. */
import { type ReactNode, useState } from 'react'
import { client } from '../data/client.ts'
import { typedLimit } from '../format/typed.ts'
import { useAct } from './act.ts'
import { Button, ErrorBox } from './base.tsx'

export interface Budgets {
  spentUsd: number
  maxBudgetUsd: number | null
  spentTokens: number
  maxBudgetTokens: number | null
}

const areTokensUsedUp = ({ spentTokens, maxBudgetTokens }: Budgets) =>
  maxBudgetTokens !== null && spentTokens >= maxBudgetTokens

export function RaiseBudget({
  jobId,
  budgets,
  label,
  onDone,
  children,
}: {
  jobId: string
  budgets: Budgets
  label: string
  onDone?: () => void
  /** Further buttons of the form. */
  children?: ReactNode
}) {
  const act = useAct()
  const [typed, setTyped] = useState('')
  const inTokens = areTokensUsedUp(budgets)
  const name = inTokens ? 'Budget in tokens' : 'Budget in $'
  const suggested = inTokens
    ? String((budgets.maxBudgetTokens ?? 0) * 2)
    : ((budgets.maxBudgetUsd ?? budgets.spentUsd) * 2).toFixed(2)
  const set = async () => {
    const limit = typedLimit(name, typed || suggested)
    await client.updateJob(jobId, inTokens ? { maxBudgetTokens: limit } : { maxBudgetUsd: limit })
  }
  return (
    <form
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        void act.run(set).then((done) => done && onDone?.())
      }}
    >
      <label className="flex items-center gap-1.5 text-small">
        {name}
        <input
          inputMode="decimal"
          value={typed}
          placeholder={suggested}
          onChange={(event) => setTyped(event.target.value)}
          className="h-7 w-24 rounded-md border border-line bg-surface px-2 text-right"
        />
      </label>
      <Button kind="main" type="submit" busy={act.busy}>
        {label}
      </Button>
      {children}
      {act.error !== null && <ErrorBox error={act.error} />}
    </form>
  )
}
