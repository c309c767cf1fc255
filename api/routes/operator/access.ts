import { isOperator } from '../../../db/operator/operators.ts';
import { AppError } from '../../../rules/errors.ts';
import { requireUser } from '../../http/actor.ts';
import type { Deps } from '../../http/deps.ts';
import type { RequestContext } from '../../http/env.ts';

/**
 * Returns the operator who sent a request, in the form of the audit log: `operator:<email>`. Other users get a 404.
 * @throws AppError NOT_FOUND
 */
export async function requireOperator(c: RequestContext, { db, config }: Pick<Deps, 'db' | 'config'>): Promise<string> {
  const { id: userId, email } = requireUser(c);
  if (await isOperator(db, { userId, email, operators: config.operators })) return `operator:${email}`;
  throw new AppError('NOT_FOUND', {
    message: 'Only operators of this service have access.',
    suggestion:
      'Sign in with an account that OPERATORS lists. If several accounts have that address, use the oldest one.',
  });
}
