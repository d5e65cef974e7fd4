/** Where the engine says what happened, for whoever looks after the daemon. */
export interface Log {
  info: (fields: object, message: string) => void
  warn: (fields: object, message: string) => void
  error: (fields: object, message: string) => void
}
