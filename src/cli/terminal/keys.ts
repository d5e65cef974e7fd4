/**
 * Keys that are pressed while something is followed on a terminal. The terminal does not echo what is typed meanwhile,
 * and Ctrl-C is a key. While a question is on the screen, its dialogue owns the terminal, and only further keys
 * are reported.
 */
import { emitKeypressEvents } from 'node:readline'
import type { CliContext } from '../base/context.ts'

export interface Keys {
  /** Gives the terminal to a dialogue, until the returned function is called. */
  giveWay: () => () => void
  close: () => void
}

export const NO_KEYS: Keys = { giveWay: () => () => {}, close: () => {} }

/** `onKey` gets the name of each key that is pressed with Ctrl. */
export function listenForKeys({ stdin }: CliContext, onKey: (name: string) => void): Keys {
  if (!stdin.isTTY) return NO_KEYS
  let given = 0
  const onPress = (_: unknown, key: { name?: string; ctrl?: boolean } | undefined) => {
    if (key?.ctrl !== true || key.name === undefined) return
    // The dialogue reports Ctrl-C itself.
    if (given === 0 || key.name !== 'c') onKey(key.name)
  }
  const take = () => {
    stdin.setRawMode?.(true)
    stdin.resume()
  }
  emitKeypressEvents(stdin)
  stdin.on('keypress', onPress)
  take()
  return {
    giveWay: () => {
      given++
      return () => {
        given--
        if (given === 0) take()
      }
    },
    close: () => {
      stdin.off('keypress', onPress)
      stdin.setRawMode?.(false)
      stdin.pause()
    },
  }
}
