/** Small hooks over the data of the page. */
import { useEffect, useSyncExternalStore } from 'react'
import { onConnection, readConnection, readRestart } from './live.ts'

export const useConnection = () => useSyncExternalStore(onConnection, readConnection)
export const useRestart = () => useSyncExternalStore(onConnection, readRestart)

/** The title of the tab, with what needs attention first. */
export function useTitle(title: string): void {
  useEffect(() => {
    setTitle(title)
  }, [title])
}

let page = ''
let asks = 0

function setTitle(title: string): void {
  page = title
  render()
}

export function setAsks(count: number): void {
  if (asks === count) return
  asks = count
  render()
}

function render(): void {
  const name = page ? `${page} · Reprise` : 'Reprise'
  document.title = asks > 0 ? `◆ ${asks} · ${name}` : name
  const icon = document.getElementById('icon')
  icon?.setAttribute('href', asks > 0 ? '/icon-asks.svg' : '/icon.svg')
}
