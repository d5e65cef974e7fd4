/** Links to what a run is for. */
import { Link } from '@tanstack/react-router'
import type { Subject } from '../../src/contract/overview.ts'
import { shorten } from '../format/text.ts'

export const pathOf = ({ kind, id }: Pick<Subject, 'kind' | 'id'>) =>
  `/${kind === 'cycle' ? 'cycles' : `${kind}s`}/${id}`

/** The row of a list is opened by this link: its whole area is clickable. */
export function SubjectLink({ subject, max = 70 }: { subject: Subject; max?: number }) {
  return (
    <Link
      to={pathOf(subject)}
      data-row
      title={subject.title}
      className="min-w-0 truncate font-medium hover:underline"
    >
      {shorten(subject.title, max) || 'untitled'}
    </Link>
  )
}
