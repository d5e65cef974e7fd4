/** Compares versions of Reprise: MAJOR.MINOR.PATCH, with a pre-release after a hyphen (semver.org, section 11). */

/** Negative: `a` is older than `b`. Null if one of them is not such a version. */
export function compareVersions(a: string, b: string): number | null {
  const [one, other] = [parse(a), parse(b)]
  if (!one || !other) return null
  return compareParts(one.numbers, other.numbers) || comparePreReleases(one.preRelease, other.preRelease)
}

type Part = number | string

function parse(version: string): { numbers: Part[]; preRelease: Part[] } | null {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?(?:\+[\w.-]+)?$/.exec(version)
  if (!match) return null
  const [, major, minor, patch, preRelease] = match
  return {
    numbers: [major, minor, patch].map(Number),
    preRelease: (preRelease?.split('.') ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  }
}

/** A version without a pre-release is newer than the same with one. */
function comparePreReleases(a: readonly Part[], b: readonly Part[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  return compareParts(a, b)
}

/** Numbers are older than words, and fewer parts are older than more. */
function compareParts(a: readonly Part[], b: readonly Part[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index]
    if (other === undefined) return 1
    if (part === other) continue
    if (typeof part !== typeof other) return typeof part === 'number' ? -1 : 1
    return part < other ? -1 : 1
  }
  return a.length - b.length
}
