/** The daemon answered, and a restart will not change its answer. */
export class Refused extends Error {}

/** Returns null if the daemon is down or refuses because the state has changed: both are expected here. */
export async function quietly<T>(act: () => Promise<T>): Promise<T | null> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof Refused) throw error
    return null
  }
}
