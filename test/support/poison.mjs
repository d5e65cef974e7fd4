/** Preloaded into a daemon: it dies when it reads a certain word, as it would of a text that takes all its memory. */
const parse = JSON.parse
JSON.parse = (text, ...others) => {
  if (typeof text === 'string' && text.includes('a poisonous answer')) process.kill(process.pid, 'SIGKILL')
  return parse(text, ...others)
}
