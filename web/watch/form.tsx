/** The settings of a watch, for a new one or an existing one. An empty field means the default. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Watch } from '../../src/contract/watch.ts'
import { client } from '../data/client.ts'
import { agentsQuery } from '../data/queries.ts'
import { useAct } from '../parts/act.ts'
import { Button, ErrorBox } from '../parts/base.tsx'
import { Choose, Field } from '../parts/form.tsx'
import { changeOf, creationOf, type Draft, draftOf } from './draft.ts'

export function WatchForm({
  watch,
  recentDir = '',
  onDone,
}: {
  /** null: a new one. */
  watch: Watch | null
  recentDir?: string
  onDone: () => void
}) {
  const act = useAct()
  const { data: agents = [] } = useQuery(agentsQuery())
  const [draft, setDraft] = useState<Draft>(() => draftOf(watch, recentDir))
  const field = (key: keyof Draft) => ({
    value: String(draft[key]),
    onChange: (value: string) => setDraft({ ...draft, [key]: value }),
  })
  const submit = async () => {
    const done = await act.run(async () => {
      if (watch) await client.updateWatch(watch.id, changeOf(draft, watch))
      else await client.createWatch({ name: draft.name.trim(), ...creationOf(draft) })
    })
    if (done) onDone()
  }
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      {watch === null && (
        <Field
          name="Name"
          note="lower-case letters, digits and . _ -"
          required
          maxLength={63}
          {...field('name')}
        />
      )}
      <Field name="Prompt" required rows={4} {...field('prompt')} />
      <Field name="Directory" required mono {...field('workDir')} />
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <Choose
          name="Fires"
          options={[
            { value: 'every', word: 'at an interval' },
            { value: 'cron', word: 'at times (cron)' },
            { value: '', word: 'only when it is triggered' },
          ]}
          {...field('fires')}
        />
        {draft.fires === 'every' && (
          <Field name="Every" required placeholder="30m" note="such as 90s, 30m, 2h" {...field('every')} />
        )}
        {draft.fires === 'cron' && (
          <>
            <Field name="Cron" required mono placeholder="0 7 * * 1-5" {...field('cron')} />
            <Field
              name="Time zone"
              placeholder="Europe/Berlin"
              note="that of the machine otherwise"
              {...field('timeZone')}
            />
          </>
        )}
        {draft.fires !== '' && (
          <Field
            name="Every, while not healthy"
            placeholder="5m"
            note="until a cycle ends as healthy or fixed"
            {...field('everyWhileNotHealthy')}
          />
        )}
        <Choose
          name="Highest tier"
          options={[
            { value: '', word: 'as configured' },
            { value: '1', word: '1 observe' },
            { value: '2', word: '2 safe' },
            { value: '3', word: '3 full' },
          ]}
          {...field('maxTier')}
        />
        <Choose
          name="Agent"
          options={[
            { value: '', word: 'default' },
            ...agents.map(({ name }) => ({ value: name, word: name })),
          ]}
          {...field('agent')}
        />
        <Choose
          name="Memory"
          options={[
            { value: 'fresh', word: 'a new session each time' },
            { value: 'persistent', word: 'one session that continues' },
          ]}
          {...field('memory')}
        />
        <Choose
          name="If the one before is still open"
          options={[
            { value: 'skip', word: 'skip this one' },
            { value: 'queue', word: 'start it afterwards' },
          ]}
          {...field('overlap')}
        />
        <Field name="Budget of a cycle in $" inputMode="decimal" {...field('maxBudgetUsd')} />
        <Field name="Budget of a day in $" inputMode="decimal" {...field('maxBudgetUsdPerDay')} />
        <Field name="Longest duration" placeholder="30m" {...field('maxDuration')} />
        <Choose
          name="Notify from"
          options={[
            { value: '', word: 'as configured' },
            { value: 'all', word: 'every cycle' },
            { value: 'problem', word: 'problems' },
            { value: 'attention', word: 'what needs a person' },
            { value: 'change', word: 'changes of the status' },
          ]}
          {...field('notifyFrom')}
        />
      </div>
      <details>
        <summary className="text-muted">Events, notifications, and what is rarely changed</summary>
        <div className="mt-2 grid grid-cols-2 gap-3 max-sm:grid-cols-1">
          <Field
            name={watch?.hasHookSecret ? 'New secret for events' : 'Secret for events'}
            note={watch?.hasHookSecret ? 'the present one stays otherwise' : 'at least 16 characters'}
            {...field('hookSecret')}
          />
          <Field name="Cycles by events per hour" inputMode="numeric" {...field('eventsPerHour')} />
          <Field name="Same event within" note="is not handled again" placeholder="1h" {...field('dedupe')} />
          <Field name="Start later by up to" note="at random" placeholder="1m" {...field('jitter')} />
          <Field name="Notify" note="names of targets" {...field('notify')} />
          <Field name="Webhook" placeholder="https://…" {...field('webhook')} />
          {draft.memory === 'persistent' && (
            <>
              <Field name="New session after" placeholder="7d" {...field('renewAfter')} />
              <Field name="New session after cycles" inputMode="numeric" {...field('renewAfterCycles')} />
            </>
          )}
        </div>
        <div className="mt-3">
          <Field
            name="Environment"
            note="described for a tier that starts in a new session"
            rows={3}
            {...field('environment')}
          />
        </div>
      </details>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={draft.dryRun}
          onChange={(event) => setDraft({ ...draft, dryRun: event.target.checked })}
        />
        Dry run: commands that act are not carried out
      </label>
      {act.error !== null && <ErrorBox error={act.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Close</Button>
        <Button kind="main" type="submit" busy={act.busy}>
          {watch ? 'Save' : 'Create'}
        </Button>
      </div>
    </form>
  )
}
