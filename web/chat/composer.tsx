/** Where messages are written: to whom, with which rights, and what sending will do. */
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { ConversationDetail } from '../../src/contract/conversation.ts'
import type { CreateRun } from '../../src/contract/create-run.ts'
import type { Run } from '../../src/contract/run.ts'
import { client, newKey } from '../data/client.ts'
import { agentsQuery, planQuery } from '../data/queries.ts'
import { useAct } from '../parts/act.ts'
import { Button, ErrorBox } from '../parts/base.tsx'
import { ContextGauge } from '../parts/context-gauge.tsx'

type Permissions = NonNullable<CreateRun['permissions']>
const PERMISSIONS: readonly { value: Permissions; word: string }[] = [
  { value: 'ask-all', word: 'asks for every tool' },
  { value: 'ask', word: 'asks where needed' },
  { value: 'edits', word: 'may edit files' },
  { value: 'allow', word: 'may do everything' },
]

export function Composer({
  conversation,
  runs,
  onSent,
}: {
  conversation: ConversationDetail
  runs: readonly Run[]
  onSent: () => void
}) {
  const field = useRef<HTMLTextAreaElement>(null)
  const act = useAct()
  const { data: agents = [] } = useQuery(agentsQuery())
  const [text, setText] = useState('')
  const [agent, setAgent] = useState(
    conversation.messages.findLast(({ role }) => role === 'user')?.agent ?? conversation.agent,
  )
  const [model, setModel] = useState('')
  const [permissions, setPermissions] = useState<Permissions | ''>('')
  const [fresh, setFresh] = useState(false)
  const { data: plan } = useQuery(planQuery(conversation.id, agent, fresh))
  const latest = runs.find((run) => run.agent === agent && run.contextTokens !== null)
  const open = runs.filter(({ state }) => state !== 'settled').length
  const working = runs.find((run) => run.state === 'running' && run.agent === agent)
  const asked = () => ({
    agent,
    ...(model.trim() ? { model: model.trim() } : {}),
    ...(permissions ? { permissions } : {}),
    ...(fresh ? { forceFreshSession: true } : {}),
  })
  const submit = async (work: (key: { idempotencyKey: string }) => Promise<unknown>) => {
    if (text.trim() === '' || act.busy) return false
    const key = { idempotencyKey: newKey() }
    if (!(await act.run(() => work(key)))) return false
    setText('')
    onSent()
    field.current?.focus()
    return true
  }
  const send = async () => {
    const request = { text, ...asked() }
    if (await submit((key) => client.createTurn(conversation.id, request, key))) setFresh(false)
  }
  /** Into the turn that is being answered. If it ends first, the daemon makes it the next turn. */
  const sayTo = (run: Run) => submit((key) => client.say(run.id, { text }, key))
  const small = 'h-7 rounded-md border border-line bg-surface px-1.5 text-small max-sm:h-9'
  return (
    <div className="shrink-0 border-t border-line bg-surface px-4 py-3">
      <form
        className="mx-auto max-w-3xl"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <textarea
          ref={field}
          aria-label="Message"
          value={text}
          rows={Math.min(10, Math.max(2, text.split('\n').length))}
          placeholder={`Message ${agent}…`}
          onChange={(event) => {
            if (text === '') void client.warmConversation(conversation.id, asked()).catch(() => {})
            setText(event.target.value)
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            void send()
          }}
          className="block w-full resize-none rounded-md border border-line bg-bg px-3 py-2"
        />
        <div className="mt-2 flex flex-wrap items-center gap-2">
          <select
            aria-label="Agent"
            value={agent}
            onChange={(event) => setAgent(event.target.value)}
            className={small}
          >
            {[...new Set([agent, ...agents.map(({ name }) => name)])].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <input
            aria-label="Model"
            value={model}
            placeholder="default model"
            onChange={(event) => setModel(event.target.value)}
            className={`${small} w-28`}
          />
          <select
            aria-label="Permissions"
            value={permissions}
            onChange={(event) => setPermissions(event.target.value as Permissions | '')}
            className={small}
          >
            <option value="">default rights</option>
            {PERMISSIONS.map(({ value, word }) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
          <label className="flex items-center gap-1.5 text-small">
            <input type="checkbox" checked={fresh} onChange={(event) => setFresh(event.target.checked)} />{' '}
            start fresh
          </label>
          <span className="max-sm:hidden">
            <ContextGauge tokens={latest?.contextTokens ?? null} window={latest?.contextWindow ?? null} />
          </span>
          <span className="ml-auto flex gap-2">
            {working && (
              <Button
                title={`${agent} reads it after its current step`}
                busy={act.busy}
                disabled={text.trim() === ''}
                onClick={() => void sayTo(working)}
              >
                Say now
              </Button>
            )}
            <Button kind="main" type="submit" busy={act.busy} disabled={text.trim() === ''}>
              {open > 0 ? 'Queue' : 'Send'}
            </Button>
          </span>
        </div>
        <p className="mt-1.5 min-h-4 text-label text-muted" aria-live="polite" data-testid="plan">
          {open > 0
            ? `Will be answered after ${open === 1 ? 'the message before it' : `the ${open} messages before it`}.`
            : (plan?.message ?? ' ')}
        </p>
        {act.error !== null && <ErrorBox error={act.error} />}
      </form>
    </div>
  )
}
