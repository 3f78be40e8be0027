import type { Quotas, Rule } from '@apus/broker';
import { closedObject, count, flag, list, object, ref, text, type ValueOf } from '../schema.ts';

export const ended = {
  'expelled?': count('Clients that the request has ended, at a node those of the process that answers.'),
  'is_complete?': flag('False: a deployment had too little time for all of them; the sweep ends the rest.'),
} as const;

const rights = {
  'publish?': list(text()),
  'subscribe?': list(text()),
  'rules?': list(ref<Rule>('Rule')),
  'clientIds?': list(text(), 'Patterns of the client identifiers that it may use.'),
  'quotas?': ref<Partial<Quotas>>('Quotas'),
} as const;
const user = { name: text(), ...rights } as const;
const passwords = {
  'password?': text('A hash that begins with scrypt:, which `apus passwd` makes.'),
  'plain_password?': text('In its place: the broker stores its hash.', { minLength: 1, maxLength: 1_024 }),
} as const;

export const userSchemas = {
  User: object(user, 'A user who shows a password: docs/identity.md.'),
  NewUser: closedObject({ ...user, ...passwords }),
  UserChange: closedObject(
    {
      ...passwords,
      ...Object.fromEntries(
        Object.entries(rights).map(([name, schema]) => [name, { oneOf: [schema, { type: 'null' }] }]),
      ),
    },
    'The fields to be set; null takes one away.',
  ),
  Ended: object(ended),
};

export type UserLine = ValueOf<(typeof userSchemas)['User']>;
/** How many clients were ended, and whether these were all. */
export type Ended = ValueOf<(typeof userSchemas)['Ended']>;
