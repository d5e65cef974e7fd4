/**
 * Variables that decide which program a name stands for, or what a program starts, reads or talks to besides. Names that
 * no program knows belong to the text alone.
 */

import { isHarmlessSetting } from './git-config.ts'

/** Often in the environment already, so that setting them is enough for programs to see it. */
const STEERING = new RegExp(
  `^(${[
    'PATH|HOME|ENV|IFS|CDPATH|SHELL|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|FPATH|ZDOTDIR|TMPDIR|GLOBIGNORE|EXECIGNORE|INPUTRC',
    '(BASH|LD|DYLD|GIT|XDG|DBUS|SYSTEMD)_.*|SSH_(ASKPASS.*|AUTH_SOCK|SK_.*|PKCS11_.*)|SUDO_(ASKPASS|EDITOR)|GH_.*|GLAB_.*|LOCPATH|GCONV_PATH|NLSPATH|HOSTALIASES',
    'PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|LESS|LESSOPEN|LESSCLOSE|LESSKEY.*|MANOPT|MANPATH',
    'PYTHON.*|PERL.*|RUBY.*|NODE_.*|NPM_CONFIG_.*|npm_config_.*|JAVA_TOOL_OPTIONS|CLASSPATH|GOFLAGS|AWKPATH|AWKLIBPATH|VIMINIT|EXINIT',
    'DOCKER_.*|COMPOSE_.*|BUILDX_.*|KUBECONFIG|KUBERC|KUBECTL_.*|HELM_.*|ANSIBLE_.*|TF_CLI_.*',
    'TAR_OPTIONS|CURL_HOME|WGETRC|OPENSSL_.*|SSL_CERT_.*|SSLKEYLOGFILE|GNUPGHOME|RIPGREP_CONFIG_PATH|RSYNC_.*|TAPE|.*_ASKPASS|https?_proxy|all_proxy|HTTPS?_PROXY|ALL_PROXY',
  ].join('|')})$`,
)

/** Where they are handed to a program on purpose, by `export` or in front of it, these are meant for it. */
const STEERING_WHEN_GIVEN = new RegExp(
  `^(${[
    '.*(PAGER|EDITOR|BROWSER|_CONFIG|_CONFIG_PATH|_CONFIG_FILE|_CONFIG_DIR|_CONF|RC|_OPTS?|_OPTIONS|_HOME|_PRELOAD|_COMMAND|_CMD|_PLUGINS?|_SHELL|_PATH|_SOCK|_SOCKET|_HOST|_RSH|_PROXY|_proxy|_LIB_?DIR|_LIBPATH|_PROGRAM|_PYTHON|_INTERPRETER|_MODULES?|_ENGINES?|_LOADER)',
    'PIP_.*|UV_.*|XTABLES_.*|SSH_.*|SUDO_.*|CONTAINERS?_.*|PODMAN_.*|REGISTRY_.*|BUILDKIT_.*|KUBE.*|AWS_.*|AZURE_.*|GOOGLE_.*|CLOUDSDK_.*|VAULT_.*|CONSUL_.*|ETCDCTL_.*|TF_.*|TEA_.*|GITEA_.*|APPRISE_.*',
    'GEM_.*|BUNDLE_.*|NPM_.*|npm_.*|JAVA_.*|GO[A-Z]+|CARGO_.*|RUST.*|PHP.*|LUA_.*|TCL.*|AWK.*|VIM.*|EMACS.*|LESS.*|MORE|GROFF.*|MANROFFOPT',
    'GZIP|BZIP2?|XZ_.*|ZSTD_.*|ZIPOPT|UNZIP.*|ZIPINFO.*|CURL.*|WGET.*|SSL.*|GPG_.*|GREP_.*|FZF_.*|BAT_.*|PG[A-Z]+|MYSQL.*|REDIS.*|DPKG_.*|APT_.*|RPM_.*|MAIL.*|TERMINFO.*|TERMCAP|LOCALDOMAIN|RES_OPTIONS|MALLOC_.*|GLIBC_.*|GCONV.*|POSIXLY_CORRECT',
  ].join('|')})$`,
)

const NEVER_HARMLESS = /^(PATH|HOME|IFS|CDPATH|ENV|BASH_.*|LD_.*|SHELLOPTS|BASHOPTS|XDG_.*|TMPDIR|SHELL)$/
/** They name a program; these programs do nothing besides. */
const NAMES_PROGRAM = /(PAGER|EDITOR|BROWSER|VISUAL)$/
/** They only switch something on or off. */
const SWITCHES =
  /^(GIT_(OPTIONAL_LOCKS|TERMINAL_PROMPT|LITERAL_PATHSPECS|ADVICE|TRACE_SETUP)|DOCKER_(BUILDKIT|CLI_HINTS|HIDE_LEGACY_COMMANDS)|COMPOSE_(ANSI|PROGRESS|STATUS_STDOUT|IGNORE_ORPHANS)|BUILDKIT_PROGRESS|SYSTEMD_(COLORS|URLIFY)|GH_(PROMPT_DISABLED|NO_UPDATE_NOTIFIER|FORCE_TTY)|PYTHON(UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8)|NPM_CONFIG_(LOGLEVEL|FUND|AUDIT|COLOR)|HELM_DEBUG|POSIXLY_CORRECT)$/

/** Variables with which any name may stand for any program. */
export const renames = (variable: string) => variable === 'BASH_ALIASES' || variable === 'BASH_CMDS'

/** `value`: as it is written, if that is certain. `given`: handed to a program on purpose. */
export interface Setting {
  value?: string | undefined
  given?: boolean
}

export function steers(variable: string, { value, given = false }: Setting = {}): boolean {
  if (!STEERING.test(variable) && !(given && STEERING_WHEN_GIVEN.test(variable))) return false
  return value === undefined || NEVER_HARMLESS.test(variable) || !isHarmless(variable, value)
}

/** `GIT_CONFIG_KEY_0` and its kin do what `git -c` does. */
export function givesGitSettings(variable: string, { value }: Setting = {}): boolean {
  if (!/^GIT_CONFIG(_GLOBAL|_SYSTEM|_PARAMETERS|_KEY_\d+)?$/.test(variable)) return false
  if (value === undefined) return true
  return variable.startsWith('GIT_CONFIG_KEY')
    ? !isHarmlessSetting(value, '…')
    : !/^(\/dev\/null)?$/.test(value)
}

function isHarmless(variable: string, value: string): boolean {
  if (value === '') return true
  if (NAMES_PROGRAM.test(variable)) return /^(cat|true|false|:|less|more)$/.test(value)
  if (SWITCHES.test(variable)) return /^[\w.-]+$/.test(value)
  return /^(LESS|SYSTEMD_LESS)$/.test(variable) && /^-?[FRSXKMiqn]+$/.test(value)
}
