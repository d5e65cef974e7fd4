/** A message for an agent that is at work. It begins with who says it, so no agent takes it for a command. */
export const composeSaid = ({ text, from }: { text: string; from?: string | null | undefined }): string =>
  `Message from ${from ?? 'the user'}: ${text}`
