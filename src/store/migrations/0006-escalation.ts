export const escalation = {
  number: 6,
  name: 'escalation',
  up: async (): Promise<void> => {},
}
