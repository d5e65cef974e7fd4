/**
 * What must go, and what must stay. Secrets are put together from parts, so that no tool that looks for secrets in
 * repositories takes this file for a leak.
 */
const join = (...parts: string[]) => parts.join('')
const HEX = '9f86d081884c7d659a2feaa0c55ad015'
const MIXED = 'a8Kd93LmQ2xZ7vB1nT5yR4wE6uI0oP3s'
const BASE64 = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'

export const PRIVATE_KEY = [
  '-----BEGIN RSA PRIVATE KEY-----',
  BASE64,
  BASE64.toLowerCase(),
  'MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S',
  'x2lOuw==',
  '-----END RSA PRIVATE KEY-----',
].join('\n')

const JWT = join(
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9',
  '.',
  'eyJzdWIiOiIxMjM0NTY3ODkwIn0',
  '.',
  'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P',
)

/** Each text with the part of it that must not be seen. */
export const SECRETS: readonly (readonly [kind: string, text: string, secret: string])[] = (
  [
    ['github-token', 'git clone with §', join('ghp_', MIXED, 'aB3d')],
    ['github-token', 'oauth: §.', join('gho_', MIXED, 'aB3d')],
    ['github-token', '§', join('github', '_pat_', '11ABCDEFG0', '_', MIXED, MIXED)],
    ['gitlab-token', 'url = https://oauth2:§@gitlab.example/x.git', join('glpat-', 'x7Kd93LmQ2xZ7vB1nT5y')],
    ['slack-token', 'SLACK §', join('xoxb-', '123456789012-', '1234567890123-', 'AbCdEfGhIjKlMnOpQrStUvWx')],
    ['anthropic-key', 'x-api-key §', join('sk-ant-', 'api03-', MIXED, '-', MIXED, 'AA')],
    ['openai-key', '(§)', join('sk-proj-', MIXED, '_', MIXED)],
    ['openai-key', '§', join('sk-', MIXED, 'a8Kd93LmQ2xZ7vB1')],
    ['stripe-key', 'charge with § now', join('sk_', 'live_', '51H8Kd93LmQ2xZ7vB1nT5y')],
    ['npm-token', '//registry.example/:_auth is §', join('npm_', MIXED, 'aB3d')],
    ['pypi-token', 'upload §', join('pypi-', 'AgEIcHlwaS5vcmc', MIXED, MIXED)],
    ['google-key', 'https://maps.example/api?k=§&v=3', join('AIza', 'SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY')],
    ['aws-access-key', 'id § in profile', join('AKIA', 'IOSFODNN7EXAMPLE')],
    ['aws', 'aws_secret_access_key = §', join('wJalrXUtnFEMI/', 'K7MDENG/bPxRfi', 'CYEXAMPLEKEY')],
    ['aws', 'AWS_SECRET_ACCESS_KEY=§', join('/JalrXUtnFEMI/', 'K7MDENG/bPxRfi', 'CYEXAMPLEKEY')],
    ['jwt', 'cookie session=§; Path=/', JWT],
    ['private-key', 'here:\n§\nand more', PRIVATE_KEY],
    ['private-key', 'KEY="§"', PRIVATE_KEY.replaceAll('\n', '\\n')],
    [
      'private-key',
      '§',
      PRIVATE_KEY.split('\n')
        .map((line, i) => `     ${i + 1}→${line}`)
        .join('\n')
        .slice(7),
    ],
    ['authorization', 'Authorization: Bearer §', 'abcdEFGHijkl'],
    ['authorization', '-H "authorization: §"', 'Zm9vYmFyYmF6'],
    ['bearer', 'sent Bearer § to it', MIXED],
    ['basic-auth', 'Authorization: Basic §', btoa('user:password')],
    ['basic-auth', "'Basic §'", btoa('user:open sesame')],
    ['url', 'postgres://app:§@db.internal:5432/app', 'hunter2'],
    ['url', 'HTTPS_PROXY=http://me:§@proxy:3128', 'p%40ss!word'],
    ['assignment', 'PASSWORD=§', 'hunter2hunter2'],
    ['assignment', 'DB_PASSWORD: §', 'S0mething!'],
    ['assignment', "password = '§'", 'correct-horse-9'],
    ['assignment', 'mysql --password=§ -u root', 'tr0ub4dor&3'.replace('&', '+')],
    ['assignment', 'gh auth login --token § now', HEX],
    ['assignment', 'api_key: "§"', HEX],
    ['assignment', "const apiKey = '§'", MIXED],
    ['assignment', '{"token":"§"}', MIXED],
    ['assignment', '{\\"token\\": \\"§\\"}', MIXED],
    ['assignment', 'client_secret=§&grant_type=x', '7c9e6679-7425-40de-944b-e07fc1f90ae7'],
    ['assignment', '<password>§</password>', 'Sommer2024'],
    ['assignment', 'X-Api-Key: §', HEX],
    ['assignment', 'BOT_TOKEN=§', 'MTk4NjIyNDgz.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs'],
    ['assignment', 'AccountKey=§;EndpointSuffix=core', `${MIXED}${MIXED}==`],
  ] as const
).map(([kind, text, secret]) => [kind, text.replace('§', () => secret), secret])

/** Nothing of these is a secret, although some look like one. */
export const INNOCENT: readonly string[] = [
  'commit 551d2149f86d081884c7d659a2feaa0c55ad0150',
  'session 7c9e6679-7425-40de-944b-e07fc1f90ae7 resumed',
  'toolu_01A09q90qw90lq917835lq9 and msg_01XFDUDYJgAACzvnptvVoYEL and req_011CSHoEeqs5C35K2UUqR7Fy',
  'run_01J9ZQK8W3V5N7M2P4R6T8Y0AB, job_01J9ZQK8W3V5N7M2P4R6T8Y0AB',
  'src/engine/supervision.ts:220 and /home/user/project/node_modules/.bin/vitest',
  'the word in base64 is aGVsbG8gd29ybGQ= as you see',
  'token: the next one is taken from the list',
  'password reset: send a mail, then wait',
  'Enter password: ',
  'tokens: 1234, max_tokens: 200000, maxTokens=64000',
  '{"inputTokens":123,"outputTokens":45678901,"cacheReadTokens":0,"cache_creation_input_tokens":12345678}',
  '"usage":{"input_tokens":4,"service_tier":"standard","total_tokens":12345678}',
  'password: string; token?: string | undefined; apiKey: z.string().min(8)',
  'const token = await getToken2(session1)',
  'const password = config.database2.password',
  'PASSWORD=$DB_PASSWORD_1 TOKEN=${GITHUB_TOKEN2} SECRET=$(cat /run/secrets/db1)',
  'password: <your-password-1>, api_key: {{ api_key_1 }}, secret: %SECRET_12%',
  'POSTGRES_PASSWORD_FILE=/run/secrets/postgres-passwd1',
  'secret: /run/secrets/key-2024-01',
  'secret: projects/123/secrets/web-1/versions/2',
  'secretName: web-tls-2024, secret: my-k8s-secret-v2-production',
  'tokenUrl: https://auth.example.com/oauth2/v2.0/token',
  'token=https://auth.example.com/oauth2/v2.0/token1',
  'API_KEY=ANTHROPIC_API_KEY_2 tells where it is',
  'nextPageToken: CAUQAA7c9e66797425',
  'Bearer authentication-with-tokens is used; bearer of bad news; Basic Authentication; basic Understanding',
  'Authorization: Bearer $TOKEN, Authorization: Bearer <token>, authorization: required everywhere',
  'https://github.com/owner/repo, http://localhost:8080/@scope/pkg, ssh://git@github.com:22/x, mailto:a@b.c',
  'https://user:${PASSWORD}@host/',
  'sk-fading-circle-container-with-many-words, a risk-averse task-list-item-component, disk-usage',
  'npm_config_registry=x npm_package_version=1.2.3',
  'test_user_can_log_in_with_a_very_long_name_1234 and compat_layer_for_older_versions',
  '-----BEGIN PRIVATE KEY----- is how the file of a key begins, and a certificate is no secret',
  '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQG\n-----END CERTIFICATE-----',
  'eyJ is how JSON begins in base64; eyJhbGciOiJub25lIn0 is a header',
  'key: value, "key":"9f86d081884c7d659a2feaa0c55ad015", primary_key=abc123def456ghi, cache_key: 9f86d081884c7d65',
  'AKIA is a prefix, AKIAshort too; AIzaShort; ghp_short; xoxb; glpat-short',
  'sha512-z8A6vD3vXz6pQpGkVZ0xk3z1lqjQ8bq0L1x8jv2iTq9r1c6hUe5w== in a lock file',
  'monkey: 9f86d081884c7d659a2feaa0, keyboard=qwerty123456, turkey=12345678901a',
  'the secret is to keep going; secret santa 2024; a token of gratitude',
  'password: ********, password: [hidden]',
  '--password-file /etc/pw1 --token-type bearer --api-key-id abc',
  'max_budget_tokens=100000 tokenizer: cl100k_base_2024',
]
