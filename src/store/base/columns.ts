/** Converts columns to values. A database may return big numbers as text. */

export const date = (ms: number | null) => (ms === null ? null : new Date(Number(ms)))

export const json = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T))

export const number = (value: number | null) => (value === null ? null : Number(value))
