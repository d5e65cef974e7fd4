/** Answering in place: questions, permission requests and approvals of the next tier. */
import { useId, useState } from 'react'
import type { Escalation } from '../../src/contract/escalation.ts'
import type { QuestionItem } from '../../src/contract/events.ts'
import type { PendingQuestion } from '../../src/contract/question.ts'
import { describeCall } from '../../src/contract/visible-text.ts'
import { client, errorText } from '../data/client.ts'
import { clip, inert } from '../format/text.ts'
import { tierName } from '../format/words.ts'
import { type Acting, useAct, wasFaster } from './act.ts'
import { Button } from './base.tsx'
import { Ago } from './clock.tsx'

export function Ask({ runId, ask, workDir }: { runId: string; ask: PendingQuestion; workDir?: string }) {
  const act = useAct()
  return (
    <div className="fade-in">
      {ask.kind === 'question' && ask.questions ? (
        <QuestionForm runId={runId} ask={ask} questions={ask.questions} act={act} />
      ) : (
        <PermissionForm runId={runId} ask={ask} act={act} workDir={workDir} />
      )}
      <ActError act={act} />
    </div>
  )
}

function ActError({ act }: { act: Acting }) {
  if (!act.error) return null
  const { message } = errorText(act.error)
  return (
    <p role="alert" className={`mt-2 ${wasFaster(act.error) ? 'text-wait' : 'text-fail'}`}>
      {wasFaster(act.error) ? 'Answered already, here or elsewhere: ' : ''}
      {inert(message)}
    </p>
  )
}

function PermissionForm({
  runId,
  ask,
  act,
  workDir,
}: {
  runId: string
  ask: PendingQuestion
  act: Acting
  workDir: string | undefined
}) {
  const [reason, setReason] = useState<string | null>(null)
  const [whole, setWhole] = useState(false)
  const text = describeCall(ask.tool ?? 'a tool', ask.input)
  const { text: shown, rest } = whole ? { text, rest: 0 } : clip(text, 1500)
  const { toolUseId, askHash } = ask
  const decide = (decision: 'allow' | 'deny', more: { remember?: boolean } = {}) =>
    act.run(() =>
      client.answer(runId, { toolUseId, askHash, decision, ...more, ...(reason ? { message: reason } : {}) }),
    )
  return (
    <div>
      <pre
        className="max-h-72 overflow-auto rounded-md bg-code px-3 py-2 wrap-anywhere whitespace-pre-wrap"
        dir="ltr"
      >
        {shown}
      </pre>
      {rest > 0 && (
        <p className="mt-1 text-ask">
          {rest} characters are not shown. Read all of it before you answer.{' '}
          <button type="button" className="underline" onClick={() => setWhole(true)}>
            Show all
          </button>
        </p>
      )}
      {workDir && <p className="mt-1 text-label text-muted">in {inert(workDir)}</p>}
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <Button kind="main" busy={act.busy} disabled={rest > 0} onClick={() => void decide('allow')}>
          Allow
        </Button>
        <Button
          busy={act.busy}
          disabled={rest > 0}
          title="Do not ask again in this session for the same command, or the same tool on the same files"
          onClick={() => void decide('allow', { remember: true })}
        >
          Always allow
        </Button>
        <Button busy={act.busy} onClick={() => void decide('deny')}>
          Deny
        </Button>
        {reason === null ? (
          <Button kind="bare" onClick={() => setReason('')}>
            Deny with a reason…
          </Button>
        ) : (
          <input
            aria-label="Reason for the agent"
            // biome-ignore lint/a11y/noAutofocus: the person has just asked for this field.
            autoFocus
            value={reason}
            placeholder="what the agent should know"
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && void decide('deny')}
            className="min-w-48 flex-1 rounded-md border border-line bg-surface px-2 py-1"
          />
        )}
      </div>
    </div>
  )
}

function QuestionForm({
  runId,
  ask,
  questions,
  act,
}: {
  runId: string
  ask: PendingQuestion
  questions: readonly QuestionItem[]
  act: Acting
}) {
  const [answers, setAnswers] = useState<Record<string, string[]>>({})
  const [other, setOther] = useState<Record<string, string>>({})
  const answerOf = ({ question }: QuestionItem) =>
    [...(answers[question] ?? []), ...(other[question]?.trim() ? [other[question].trim()] : [])].join(', ')
  const complete = questions.every((item) => answerOf(item) !== '')
  const { toolUseId, askHash } = ask
  const send = () =>
    act.run(() =>
      client.answer(runId, {
        toolUseId,
        askHash,
        answers: Object.fromEntries(questions.map((item) => [item.question, answerOf(item)])),
      }),
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (complete) void send()
      }}
    >
      {questions.map((item) => (
        <Question
          key={item.question}
          item={item}
          chosen={answers[item.question] ?? []}
          onChoose={(labels) => {
            setAnswers({ ...answers, [item.question]: labels })
            if (!item.multiSelect) setOther({ ...other, [item.question]: '' })
          }}
          other={other[item.question] ?? ''}
          onOther={(text) => {
            setOther({ ...other, [item.question]: text })
            if (!item.multiSelect && text) setAnswers({ ...answers, [item.question]: [] })
          }}
        />
      ))}
      <Button kind="main" type="submit" busy={act.busy} disabled={!complete}>
        Answer
      </Button>
    </form>
  )
}

function Question({
  item,
  chosen,
  onChoose,
  other,
  onOther,
}: {
  item: QuestionItem
  chosen: readonly string[]
  onChoose: (labels: string[]) => void
  other: string
  onOther: (text: string) => void
}) {
  const name = useId()
  const type = item.multiSelect ? 'checkbox' : 'radio'
  return (
    <fieldset className="mb-3">
      <legend className="mb-1.5 font-medium">{inert(item.question)}</legend>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,190px),1fr))] gap-1.5">
        {item.options.map(({ label, description }) => (
          <label
            key={label}
            className="flex min-h-8 cursor-pointer items-start gap-2 rounded-md border border-line bg-surface px-2.5 py-1.5 has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type={type}
              name={name}
              className="mt-1"
              checked={chosen.includes(label)}
              onChange={(event) =>
                onChoose(
                  item.multiSelect
                    ? event.target.checked
                      ? [...chosen, label]
                      : chosen.filter((one) => one !== label)
                    : [label],
                )
              }
            />
            <span>
              {inert(label)}
              {description && <span className="block text-muted">{inert(description)}</span>}
            </span>
          </label>
        ))}
      </div>
      <input
        aria-label={`Another answer to: ${item.question}`}
        placeholder={item.options.length > 0 ? 'or something else…' : 'your answer'}
        value={other}
        onChange={(event) => onOther(event.target.value)}
        className="mt-1.5 min-h-8 w-full rounded-md border border-line bg-surface px-2.5 py-1"
      />
    </fieldset>
  )
}

export function ApprovalForm({ escalation }: { escalation: Escalation }) {
  const act = useAct()
  const { runId, toTier, recommendation, expiresAt, askHash } = escalation
  const reason = recommendation.signal?.reason || escalation.message
  const decide = (decision: 'approve' | 'refuse') =>
    act.run(() => client.decideApproval(runId, { decision, ...(askHash ? { askHash } : {}) }))
  return (
    <div className="fade-in">
      <p>
        {toTier === null ? 'The next tier' : sentence(tierName(toTier))} wants to start: “{inert(reason)}”
        {expiresAt && (
          <span className="ml-2 text-muted">
            gives up <Ago at={expiresAt} />
          </span>
        )}
      </p>
      <div className="mt-2 flex gap-2">
        <Button kind="main" busy={act.busy} onClick={() => void decide('approve')}>
          Approve
        </Button>
        <Button busy={act.busy} onClick={() => void decide('refuse')}>
          Refuse
        </Button>
      </div>
      <ActError act={act} />
    </div>
  )
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
