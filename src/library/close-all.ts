/**
 * Closes what was opened, the last first. One that fails does not keep the others open: a lock that stayed would lock the
 * home until the program ends. Rejects with the first failure, after everything was tried.
 */
export async function closeAll(closers: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const closer of closers.splice(0).reverse()) {
    try {
      await closer()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
