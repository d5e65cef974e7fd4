/** Whether the page stays behind what it was told of. */
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, onTestFinished, test } from 'vitest'
import { askAgain } from '../../web/data/ask-again.ts'
import { eventually } from '../process/attempts.ts'

/** A query whose answers are given by the test, one for each time that it is asked. */
function observed(queries: QueryClient) {
  const answers: ((value: string) => void)[] = []
  const queryFn = () => new Promise<string>((resolve) => void answers.push(resolve))
  const observer = new QueryObserver(queries, { queryKey: ['thing', 1], queryFn, staleTime: Infinity })
  onTestFinished(observer.subscribe(() => {}))
  const asked = (times: number) => eventually(() => expect(answers).toHaveLength(times))
  return { answers, asked, shown: () => observer.getCurrentResult().data }
}

test('a change during the first fetch is not forgotten: the query is asked again', async () => {
  const queries = new QueryClient()
  const { answers, asked, shown } = observed(queries)
  await asked(1)
  askAgain(queries, ['thing'])
  answers[0]?.('before the change')
  await asked(2)
  answers[1]?.('after the change')
  await eventually(() => expect(shown()).toBe('after the change'))
})

test('a change during a later fetch, and one during none', async () => {
  const queries = new QueryClient()
  const { answers, asked, shown } = observed(queries)
  await asked(1)
  answers[0]?.('first')
  await eventually(() => expect(shown()).toBe('first'))
  askAgain(queries)
  await asked(2)
  askAgain(queries, ['thing', 1])
  await asked(3)
  answers[2]?.('third')
  answers[1]?.('second')
  await eventually(() => expect(shown()).toBe('third'))
  expect(answers).toHaveLength(3)
})
