/** Preloaded into a daemon: the daemon dies when it reads a certain word, like a text that exhausts its memory. */
const parse = JSON.parse
JSON.parse = (text, ...others) => {
  if (typeof text === 'string' && text.includes('a poisonous answer')) process.kill(process.pid, 'SIGKILL')
  return parse(text, ...others)
}
