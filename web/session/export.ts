/** Saves a session as a file on the device of the person. */
import { client } from '../data/client.ts'

export async function exportSession(id: string): Promise<void> {
  const file = await new Response(await client.exportSession(id)).blob()
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = `${id}.reprise.tar.gz`
  link.click()
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
