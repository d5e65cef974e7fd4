/** Reading messages from a terminal, on streams. */
import { expect, test } from 'vitest'
import { createChatReader } from '../../src/cli/chat/input.ts'
import { createTerminal, KEYS } from './terminal-double.ts'

const { enter, ctrlC, ctrlD } = KEYS
const open = () => {
  const terminal = createTerminal({ TERM: 'xterm' }, '/')
  const reader = createChatReader(terminal.context)
  const read = async () => {
    const message = reader.read('> ')
    await terminal.shows('> ')
    return { message }
  }
  return { ...terminal, read }
}

test('a line is a message; the terminal is free between two of them', async () => {
  const { context, read, type } = open()
  const interrupt = context.interrupt
  for (const text of ['hello', 'and ü 🙂']) {
    const { message } = await read()
    expect(context.interrupt).not.toBe(interrupt)
    type(`${text}${enter}`)
    expect(await message).toBe(text)
    expect(context.interrupt).toBe(interrupt)
    expect(context.stdin.listenerCount('keypress')).toBe(0)
    expect(context.stdin.isPaused()).toBe(true)
  }
})

test('a line that ends in a backslash goes on in the next one', async () => {
  const { read, type, shows } = open()
  const { message } = await read()
  type(`one \\${enter}`)
  await shows('… ')
  type(`two${enter}`)
  expect(await message).toBe('one \ntwo')
})

test('what is pasted is one message, sent by Enter, as it was', async () => {
  const { read, type, shows } = open()
  const { message } = await read()
  type('Look: \u001b[200~cd x \\\r  make\r')
  await shows('… ')
  type('done\u001b[201~')
  type(` now${enter}`)
  expect(await message).toBe('Look: cd x \\\n  make\ndone now')
})

test('a paste without marks is not sent line by line either', async () => {
  const { read, type, shows } = open()
  const { message } = await read()
  type('one\rtwo\rthr')
  await shows('… ')
  type(`ee${enter}`)
  expect(await message).toBe('one\ntwo\nthree')
  const again = await read()
  type('four\rfive\r')
  expect(await again.message).toBe('four\nfive')
})

test('Ctrl-C empties the line, then says how to leave, then leaves', async () => {
  const { read, type, shows, screen } = open()
  const { message } = await read()
  type(`begun \\${enter}and half`)
  await shows('half')
  type(ctrlC)
  await shows('> ')
  expect(screen()).not.toContain('Ctrl-C again')
  type(ctrlC)
  await shows('(press Ctrl-C again or Ctrl-D to leave')
  await shows('> ')
  type(ctrlC)
  expect(await message).toBeNull()
})

test('typing in between takes the first Ctrl-C back', async () => {
  const { read, type, shows } = open()
  const { message } = await read()
  type(ctrlC)
  await shows('Ctrl-C again')
  type('x')
  type(ctrlC)
  await shows('> ')
  type(ctrlC)
  await shows('Ctrl-C again')
  type(`still here${enter}`)
  expect(await message).toBe('still here')
})

test('Ctrl-D leaves, and so does the end of the input', async () => {
  const { read, type } = open()
  const { message } = await read()
  type(ctrlD)
  expect(await message).toBeNull()
  const other = open()
  const last = await other.read()
  other.context.stdin.push(null)
  expect(await last.message).toBeNull()
})

test('earlier lines can be called back', async () => {
  const { read, type } = open()
  const first = await read()
  type(`unforgettable${enter}`)
  await first.message
  const { message } = await read()
  type(`\u001b[A${enter}`)
  expect(await message).toBe('unforgettable')
})
