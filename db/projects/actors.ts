import { sql } from 'kysely';
import type { Db } from '../connection.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Returns the names of actors: the member's address for `user:<id>`, the key's name for `key:<id>`, the workflow's name
 * for `execution:<id>`. The map has no entry for users who left the project, or for actors without a name.
 */
export async function findActorNames(
  db: Db,
  p: { projectId: string; actors: readonly (string | null)[] },
): Promise<Map<string, string>> {
  const actorIdsOfKind = (kind: string) =>
    p.actors.flatMap((actor) => {
      const id = actor?.startsWith(`${kind}:`) ? actor.slice(kind.length + 1) : '';
      return UUID.test(id) ? [id] : [];
    });
  const { rows } = await sql<{ actor: string; name: string }>`
    SELECT 'user:' || u.id AS actor, u.email AS name FROM users u JOIN memberships m ON m.user_id = u.id
      WHERE m.project_id = ${p.projectId} AND u.id = ANY(${actorIdsOfKind('user')}::uuid[])
    UNION ALL
    SELECT 'key:' || k.id, k.name FROM api_keys k
      WHERE k.project_id = ${p.projectId} AND k.id = ANY(${actorIdsOfKind('key')}::uuid[])
    UNION ALL
    SELECT 'execution:' || x.id, w.name FROM executions x JOIN workflows w ON w.id = x.workflow_id
      WHERE x.project_id = ${p.projectId} AND x.id = ANY(${actorIdsOfKind('execution')}::uuid[])
  `.execute(db);
  return new Map(rows.map(({ actor, name }) => [actor, name]));
}
