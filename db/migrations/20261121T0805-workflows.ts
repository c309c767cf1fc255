import { type Kysely, sql } from 'kysely';

/** A tenant's workflows (automations), and their executions: one run of a workflow for one contact. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE workflows (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      name text NOT NULL,
      description text,
      trigger_type text NOT NULL DEFAULT 'EVENT' CHECK (trigger_type IN ('EVENT', 'MANUAL')),
      event_name text,
      enabled boolean NOT NULL DEFAULT false,
      allow_reentry boolean NOT NULL DEFAULT false,
      entry_step_id uuid,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX workflows_project ON workflows (project_id, id)`.execute(db);
  await sql`
    CREATE INDEX workflows_trigger ON workflows (project_id, event_name) WHERE enabled AND trigger_type = 'EVENT'
  `.execute(db);
  await sql`
    CREATE TABLE workflow_steps (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      workflow_id uuid NOT NULL REFERENCES workflows ON DELETE CASCADE,
      type text NOT NULL,
      name text NOT NULL,
      config jsonb NOT NULL DEFAULT '{}',
      template_id uuid REFERENCES templates,
      position jsonb,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX workflow_steps_workflow ON workflow_steps (workflow_id)`.execute(db);
  await sql`CREATE INDEX workflow_steps_template ON workflow_steps (template_id)`.execute(db);
  await sql`
    CREATE TABLE workflow_transitions (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
      workflow_id uuid NOT NULL REFERENCES workflows ON DELETE CASCADE,
      from_step_id uuid NOT NULL REFERENCES workflow_steps ON DELETE CASCADE,
      to_step_id uuid NOT NULL REFERENCES workflow_steps ON DELETE CASCADE,
      branch text CHECK (branch IN ('yes', 'no', 'event', 'timeout')),
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT workflow_transitions_branch UNIQUE NULLS NOT DISTINCT (from_step_id, branch)
    )`.execute(db);
  await sql`CREATE INDEX workflow_transitions_workflow ON workflow_transitions (workflow_id)`.execute(db);
  // entry is the number of a contact's entry into a workflow. Without re-entry it is always 1, so the first unique
  // index lets a contact enter only once. The second unique index allows a contact one open execution at a time
  // (contract §7.4 Re-entry).
  await sql`
    CREATE TABLE executions (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      workflow_id uuid NOT NULL REFERENCES workflows ON DELETE CASCADE,
      contact_id uuid NOT NULL,
      entry int NOT NULL,
      status text NOT NULL DEFAULT 'RUNNING'
        CHECK (status IN ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
      current_step_id uuid,
      visit int NOT NULL DEFAULT 0,
      exit_reason text,
      error text,
      context jsonb NOT NULL DEFAULT '{}',
      event_id uuid,
      event_name text,
      event jsonb NOT NULL DEFAULT '{}',
      untrusted boolean NOT NULL DEFAULT false,
      mode text NOT NULL DEFAULT 'live',
      started_at timestamptz NOT NULL DEFAULT now(),
      completed_at timestamptz
    ) WITH (fillfactor = 70)`.execute(db);
  await sql`CREATE UNIQUE INDEX executions_entry ON executions (workflow_id, contact_id, entry)`.execute(db);
  await sql`
    CREATE UNIQUE INDEX executions_active ON executions (workflow_id, contact_id) WHERE completed_at IS NULL
  `.execute(db);
  await sql`CREATE INDEX executions_workflow ON executions (project_id, workflow_id, id)`.execute(db);
  await sql`CREATE INDEX executions_contact ON executions (contact_id, id)`.execute(db);
  await sql`
    CREATE TABLE execution_steps (
      execution_id uuid NOT NULL REFERENCES executions ON DELETE CASCADE,
      visit int NOT NULL,
      project_id uuid NOT NULL,
      step_id uuid NOT NULL,
      type text NOT NULL,
      status text NOT NULL,
      attempts int NOT NULL DEFAULT 1,
      started_at timestamptz NOT NULL DEFAULT now(),
      completed_at timestamptz,
      due_at timestamptz,
      output jsonb,
      error text,
      PRIMARY KEY (execution_id, visit)
    )`.execute(db);
  // A wait exists from the visit that registers it until an event or its deadline ends it. `since` is the time when the
  // execution entered the step. An event recorded after this time counts, so no event between two steps is missed.
  await sql`
    CREATE TABLE execution_waits (
      execution_id uuid NOT NULL REFERENCES executions ON DELETE CASCADE,
      visit int NOT NULL,
      project_id uuid NOT NULL,
      contact_id uuid NOT NULL,
      event_name text NOT NULL,
      filters jsonb,
      since timestamptz NOT NULL,
      deadline_at timestamptz,
      event_id uuid,
      PRIMARY KEY (execution_id, visit)
    )`.execute(db);
  await sql`CREATE INDEX execution_waits_event ON execution_waits (contact_id, event_name)`.execute(db);
}
