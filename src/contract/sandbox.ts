/** What holds the processes of an agent; `none`: nothing but its user's rights. */
export const SANDBOXES = ['bubblewrap', 'unshare', 'none'] as const
export type SandboxName = (typeof SANDBOXES)[number]
