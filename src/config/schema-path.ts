/** Looks up a path of the settings in the schema: the known keys there, and the expected value. */
import type { z } from 'zod'
import type { SettingPath } from './problem.ts'
import { configSchema } from './schema.ts'
import { expectationOf } from './setting.ts'

type Def = {
  type: string
  innerType?: z.core.$ZodType
  shape?: Record<string, z.core.$ZodType>
  valueType?: z.core.$ZodType
  element?: z.core.$ZodType
  options?: z.core.$ZodType[]
}

export function knownKeysAt(path: SettingPath): string[] {
  return Object.keys(shapeOf(schemaAt(path)) ?? {})
}

/** Completes "expected …". */
export function expectedAt(path: SettingPath): string | undefined {
  const schema = schemaAt(path)
  if (!schema) return undefined
  return (
    expectationOf(schema) ??
    (shapeOf(schema) ? `a mapping with the keys ${knownKeysAt(path).join(', ')}` : undefined)
  )
}

/** The full paths of all settings, such as `server.port`, except those below names that the user chooses. */
export function settingPaths(schema: z.core.$ZodType = configSchema, prefix = ''): string[] {
  return Object.entries(shapeOf(schema) ?? {}).flatMap(([key, inner]) => {
    const path = prefix + key
    const bare = unwrap(inner)
    return shapeOf(bare) ? settingPaths(bare, `${path}.`) : [path]
  })
}

function schemaAt(path: SettingPath): z.core.$ZodType | undefined {
  let schema: z.core.$ZodType | undefined = configSchema
  for (const part of path) {
    if (!schema) return undefined
    const options: z.core.$ZodType[] = defOf(schema).options ?? [schema]
    const inner: z.core.$ZodType | undefined = options.map((option) => innerAt(option, part)).find(Boolean)
    schema = inner && unwrap(inner)
  }
  return schema
}

/** A list has numbered parts, a mapping named ones. */
function innerAt(schema: z.core.$ZodType, part: PropertyKey): z.core.$ZodType | undefined {
  const { valueType, element } = defOf(schema)
  return shapeOf(schema)?.[String(part)] ?? (typeof part === 'number' ? element : valueType)
}

/** The schema below `.prefault()` and `.optional()`. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  const { innerType } = defOf(schema)
  return innerType ? unwrap(innerType) : schema
}

const defOf = (schema: z.core.$ZodType): Def => schema._zod.def as Def

function shapeOf(schema: z.core.$ZodType | undefined): Record<string, z.core.$ZodType> | undefined {
  return schema && defOf(schema).shape
}
