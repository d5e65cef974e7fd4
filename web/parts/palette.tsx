/** The command palette: everything by its name or short id, and what one can do. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { client, renewClient } from '../data/client.ts'
import { conversationsQuery, jobsQuery, overviewQuery, sessionsQuery, watchesQuery } from '../data/queries.ts'
import { keepPageKey } from '../data/session.ts'
import { keepTheme } from '../data/theme.ts'
import { shorten, shortId } from '../format/text.ts'
import { useSettled } from './list.tsx'
import { PLACES } from './places.ts'
import { pathOf } from './subject.tsx'

export default function Palette({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null)
  const navigate = useNavigate()
  const { data: overview } = useQuery(overviewQuery())
  const { data: watches = [] } = useQuery(watchesQuery())
  const [typed, setTyped] = useState('')
  const q = useSettled(typed.trim())
  const { data: jobs } = useInfiniteQuery(jobsQuery({ q }))
  const { data: conversations } = useInfiniteQuery(conversationsQuery(q))
  const { data: sessions } = useInfiniteQuery(sessionsQuery({ q }))
  const byId = pathOfId(typed.trim())
  useEffect(() => ref.current?.showModal(), [])
  const go = (to: string) => () => {
    onClose()
    void navigate({ to })
  }
  const act = (work: () => unknown) => () => {
    onClose()
    void work()
  }
  const signOut = async () => {
    await client.signOut().catch(() => {})
    keepPageKey(null)
    renewClient()
    location.assign('/sign-in')
  }
  return (
    <dialog
      ref={ref}
      aria-label="Search or do"
      onClose={onClose}
      className="mt-[12vh] w-[min(620px,calc(100vw-24px))] overflow-hidden rounded-lg border border-line bg-surface p-0 shadow-xl"
    >
      <Command label="Search or do" loop>
        <Command.Input
          autoFocus
          value={typed}
          onValueChange={setTyped}
          placeholder="A name, an id, or what to do…"
          className="w-full border-b border-line bg-surface px-4 py-3 outline-none"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
          <Command.Empty className="px-3 py-4 text-muted">Nothing found.</Command.Empty>
          {byId && (
            <Group heading="Open">
              <Choice value={typed} onSelect={go(byId)} note="">
                Open <code>{shorten(typed, 50)}</code>
              </Choice>
            </Group>
          )}
          {(overview?.needsYou.length ?? 0) > 0 && (
            <Group heading="Needs you">
              {overview?.needsYou.map((need) => (
                <Choice
                  key={`${need.runId}/${need.since}`}
                  value={`${need.subject.title} ${need.runId}`}
                  onSelect={go(pathOf(need.subject))}
                  note="◆"
                >
                  {shorten(need.subject.title, 70)}
                </Choice>
              ))}
            </Group>
          )}
          <Group heading="Pages">
            {PLACES.map(({ to, name, key }) => (
              <Choice key={to} value={`page ${name}`} onSelect={go(to)} note={`g ${key}`}>
                {name}
              </Choice>
            ))}
          </Group>
          <Group heading="Do">
            {watches.map(({ id, name }) => (
              <Choice
                key={id}
                value={`trigger watch ${name}`}
                onSelect={act(() => client.triggerWatch(id))}
                note=""
              >
                Trigger watch {name} now
              </Choice>
            ))}
            <Choice value="theme light" onSelect={act(() => keepTheme('light'))} note="">
              Light colours
            </Choice>
            <Choice value="theme dark" onSelect={act(() => keepTheme('dark'))} note="">
              Dark colours
            </Choice>
            <Choice value="theme system" onSelect={act(() => keepTheme('system'))} note="">
              Colours as the system says
            </Choice>
            <Choice value="sign out" onSelect={act(signOut)} note="">
              Sign out
            </Choice>
          </Group>
          <Group heading="Jobs">
            {jobs?.pages
              .flatMap(({ items }) => items)
              .map(({ id, prompt, state }) => (
                <Choice
                  key={id}
                  value={`${prompt.slice(0, 200)} ${id}`}
                  keywords={[q]}
                  onSelect={go(`/jobs/${id}`)}
                  note={state}
                >
                  {shorten(prompt, 70)}
                </Choice>
              ))}
          </Group>
          <Group heading="Conversations">
            {conversations?.pages
              .flatMap(({ items }) => items)
              .map(({ id, title }) => (
                <Choice
                  key={id}
                  value={`${title} ${id}`}
                  keywords={[q]}
                  onSelect={go(`/conversations/${id}`)}
                  note={shortId(id)}
                >
                  {shorten(title || 'untitled', 70)}
                </Choice>
              ))}
          </Group>
          <Group heading="Watches">
            {watches.map(({ id, name, state }) => (
              <Choice key={id} value={`watch ${name} ${id}`} onSelect={go(`/watches/${name}`)} note={state}>
                {name}
              </Choice>
            ))}
          </Group>
          <Group heading="Sessions">
            {sessions?.pages
              .flatMap(({ items }) => items)
              .map(({ id, agentSessionId, agent }) => (
                <Choice
                  key={id}
                  value={`session ${id} ${agentSessionId}`}
                  keywords={[q]}
                  onSelect={go(`/sessions/${id}`)}
                  note={agent}
                >
                  <code>{agentSessionId}</code>
                </Choice>
              ))}
          </Group>
        </Command.List>
      </Command>
    </dialog>
  )
}

/** The page of a whole id, also of what is in no list. */
function pathOfId(text: string): string | null {
  const [, kind = ''] = /^(job|run|cnv|cyc|wch|ses)_[0-9A-HJKMNP-TV-Z]{26}$/.exec(text) ?? []
  const folder = {
    job: 'jobs',
    run: 'runs',
    cnv: 'conversations',
    cyc: 'cycles',
    wch: 'watches',
    ses: 'sessions',
  }[kind]
  return folder === undefined ? null : `/${folder}/${text}`
}

function Group({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-label [&_[cmdk-group-heading]]:text-muted"
    >
      {children}
    </Command.Group>
  )
}

function Choice({
  value,
  onSelect,
  note,
  keywords = [],
  children,
}: {
  value: string
  /** The daemon has found it by these words. */
  keywords?: readonly string[]
  onSelect: () => void
  note: string
  children: ReactNode
}) {
  return (
    <Command.Item
      value={value}
      keywords={[...keywords]}
      onSelect={onSelect}
      className="flex min-h-8 cursor-pointer items-center gap-3 rounded-md px-3 py-1 data-[selected=true]:bg-raised"
    >
      <span className="min-w-0 flex-1 truncate">{children}</span>
      <span className="shrink-0 text-label text-muted">{note}</span>
    </Command.Item>
  )
}
