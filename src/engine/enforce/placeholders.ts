/**
 * The empty files and folders that sandboxes need as mount points in work directories.
 *
 * Invariant: they exist as long as an attempt is in a sandbox in their directory, because removing a mount point outside removes the
 * mount inside. Every attempt's record names all that its directory had when it started, so that the next daemon knows them.
 */
export class Placeholders {
  readonly #places = new Map<string, { attempts: Set<string>; paths: Set<string> }>()
  readonly #remove: (paths: readonly string[]) => void

  constructor(remove: (paths: readonly string[]) => void) {
    this.#remove = remove
  }

  /** Called before anything is created, so that an attempt that ends now does not remove it. Returns all of the directory. */
  enter(workDir: string, attempt: string, paths: readonly string[]): readonly string[] {
    const place = this.#places.get(workDir) ?? { attempts: new Set(), paths: new Set() }
    this.#places.set(workDir, place)
    place.attempts.add(attempt)
    for (const path of paths) place.paths.add(path)
    return [...place.paths]
  }

  /** Can be repeated. */
  leave(workDir: string, attempt: string): void {
    const place = this.#places.get(workDir)
    if (!place?.attempts.delete(attempt) || place.attempts.size > 0) return
    this.#places.delete(workDir)
    this.#remove([...place.paths])
  }
}
