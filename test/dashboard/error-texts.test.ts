import { expect, it } from 'vitest';
import { unreachable } from '../../dashboard/api/failure.ts';
import { errors, errorTextOf } from '../../dashboard/text/errors.ts';
import { ERRORS } from '../../rules/errors.ts';

it('has a text of its own for every error code of the API and for a service that does not respond', () => {
  expect(Object.keys(errors).sort()).toEqual([...Object.keys(ERRORS), unreachable().code].sort());
});

it('never tells a user of the dashboard to call the API', () => {
  for (const [code, { title, help }] of Object.entries(errors)) {
    expect(`${title} ${help}`, code).not.toMatch(/\b(GET|POST|PATCH|DELETE) \/|_|details\.|header|JSON/);
  }
});

it('shows the message of an error that the catalogue does not have', () => {
  expect(errorTextOf('HTTP_502')).toMatchObject({ title: 'Something went wrong', isSpecific: true });
});
