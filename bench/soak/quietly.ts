/** The daemon answered, and no restart will change what it said. */
export class Refused extends Error {}

/** A daemon that is down, or says no to what is no longer so, is part of the game. */
export async function quietly<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Refused) throw error
    return null
  }
}
