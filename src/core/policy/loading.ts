/** Options with which a program that is allowed reads other settings, or code: whoever writes those could start anything. */
import type { Field } from './command.ts'

const LOADING: Record<string, RegExp> = {
  docker: /^(--config|--host)(=|$)|^-[a-zA-Z]*H/,
  kubectl: /^--(kubeconfig|kuberc|cache-dir)(=|$)/,
  oc: /^--(kubeconfig|config|cache-dir)(=|$)/,
  helm: /^--(kubeconfig|post-renderer|registry-config|repository-config|repository-cache)/,
  systemctl: /^(-[a-zA-Z]*[HM]|--(ho|mac|roo|im))/,
  apprise: /^(-[a-z]*P|--plugin-path)/,
  gh: /^(-[df]*[ew]|--(editor|web|recover))/,
}

/** The option, if there is one. */
export function loadingOption(program: string, args: readonly Field[]): string | undefined {
  const loading = Object.hasOwn(LOADING, program) ? LOADING[program] : undefined
  return loading && args.find(({ text }) => loading.test(text))?.text
}
