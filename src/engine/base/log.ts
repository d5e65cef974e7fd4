/** The engine's log, for the operator of the daemon. */
export interface Log {
  info: (fields: object, message: string) => void
  warn: (fields: object, message: string) => void
  error: (fields: object, message: string) => void
}
