/** The pages of the navigation, and the key that goes there after g. */
export const PLACES = [
  { to: '/', name: 'Now', key: 'n' },
  { to: '/conversations', name: 'Conversations', key: 'c' },
  { to: '/jobs', name: 'Jobs', key: 'j' },
  { to: '/watches', name: 'Watches', key: 'w' },
  { to: '/sessions', name: 'Sessions', key: 's' },
  { to: '/costs', name: 'Costs', key: 'o' },
  { to: '/machine', name: 'Machine', key: 'm' },
] as const
