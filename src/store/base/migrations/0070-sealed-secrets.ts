/**
 * Secrets of watches are sealed from here on (store/watches/sealed.ts). The key is not known here: the stored ones are
 * sealed when the store is opened. The number makes sure that no older Reprise takes a sealed secret for a secret.
 */
export const sealedSecrets = {
  number: 70,
  name: 'sealed-secrets',
  up: async (): Promise<void> => {},
}
