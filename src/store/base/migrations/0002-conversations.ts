import type { Kysely } from 'kysely'

export const conversations = {
  number: 2,
  name: 'conversations',
  up: async (db: Kysely<unknown>): Promise<void> => {
    const { schema } = db
    await schema
      .createTable('conversations')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('title', 'text', (c) => c.notNull())
      .addColumn('agent', 'text', (c) => c.notNull())
      .addColumn('work_dir', 'text', (c) => c.notNull())
      .addColumn('instructions', 'text')
      .addColumn('history_scope', 'text', (c) => c.notNull())
      .addColumn('turn_count', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('revision', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('updated_at', 'bigint', (c) => c.notNull())
      .execute()

    await schema
      .createTable('messages')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('conversation_id', 'text', (c) => c.notNull())
      .addColumn('turn', 'integer', (c) => c.notNull())
      .addColumn('role', 'text', (c) => c.notNull())
      .addColumn('agent', 'text', (c) => c.notNull())
      .addColumn('blocks', 'text', (c) => c.notNull())
      .addColumn('state', 'text', (c) => c.notNull())
      .addColumn('revision', 'integer', (c) => c.notNull().defaultTo(1))
      .addColumn('run_id', 'text')
      .addColumn('created_at', 'bigint', (c) => c.notNull())
      .addColumn('edited_at', 'bigint')
      .addUniqueConstraint('messages_of_turn', ['conversation_id', 'turn', 'role'])
      .execute()

    await schema
      .createTable('pins')
      .addColumn('conversation_id', 'text', (c) => c.notNull())
      .addColumn('agent', 'text', (c) => c.notNull())
      .addColumn('epoch', 'integer', (c) => c.notNull().defaultTo(0))
      .addColumn('session_id', 'text')
      .addColumn('session_epoch', 'integer')
      .addColumn('since_turn', 'integer')
      .addColumn('seen_turn', 'integer')
      .addColumn('instructions_hash', 'text')
      .addPrimaryKeyConstraint('pins_pk', ['conversation_id', 'agent'])
      .execute()

    await schema.createIndex('pins_session').on('pins').column('session_id').execute()
    await schema.alterTable('runs').addColumn('outcome_name', 'text').execute()
    await schema.alterTable('runs').addColumn('turn', 'integer').execute()
    await schema.alterTable('runs').addColumn('prompt_chars', 'bigint').execute()
    await schema.alterTable('runs').addColumn('transcript_chars', 'bigint').execute()
    await schema.alterTable('attempts').addColumn('epoch', 'integer').execute()
    await schema.alterTable('attempts').addColumn('instructions_hash', 'text').execute()
    await schema
      .alterTable('attempts')
      .addColumn('kind', 'text', (c) => c.notNull().defaultTo('turn'))
      .execute()
    await schema.createIndex('runs_conversation').on('runs').columns(['conversation_id', 'id']).execute()
  },
}
