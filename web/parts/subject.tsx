/** Links to what a run is for. */
import { Link } from '@tanstack/react-router'
import type { Subject } from '../../src/contract/overview.ts'
import { inert } from '../format/text.ts'

export const pathOf = ({ kind, id }: Pick<Subject, 'kind' | 'id'>) =>
  `/${kind === 'watch' ? 'watches' : `${kind}s`}/${id}`

/** The row of a list is opened by this link: its whole area is clickable. */
export function SubjectLink({ subject }: { subject: Subject }) {
  return (
    <Link
      to={pathOf(subject)}
      data-row
      title={subject.title}
      className="min-w-0 truncate font-medium hover:underline"
    >
      {inert(subject.title).slice(0, 160) || 'untitled'}
    </Link>
  )
}
