import { answer, json, type Operation, parameter } from '../operation.ts';
import { ref, text } from '../schema.ts';
import { notFound, PAGING } from './parameters.ts';

const common = { tag: 'Users', scope: 'tenant' } as const;
const noUsers = answer('This node has no users file, or this hub no users.', ref('Problem'));
const named = { name: parameter('Of the user.', text()) } as const;

export const userOperations = {
  listUsers: {
    ...common,
    method: 'GET',
    path: '/users',
    summary: 'Lists users and their rules, without their passwords.',
    description:
      'The users of a node are in its users files (`--users`, `--identity`), which it writes at a change; other workers of this machine read them within two seconds. Processes on other machines have files of their own. A hub keeps them in its storage, beside those that are deployed with it.',
    query: PAGING,
    answers: { 200: answer('A page of users.', ref('UserPage')), 501: noUsers },
  },
  addUser: {
    ...common,
    method: 'POST',
    path: '/users',
    summary: 'Adds a user, with a password or its hash.',
    body: json(ref('NewUser')),
    answers: { 204: answer('It may connect.'), 501: noUsers },
  },
  changeUser: {
    ...common,
    method: 'PUT',
    path: '/users/:name',
    summary:
      'Sets fields of a user. A password counts from the next CONNECT on; rules at a node or a hub at once.',
    parameters: named,
    body: json(ref('UserChange')),
    answers: { 204: answer('They are set.'), 404: notFound, 501: noUsers },
  },
  removeUser: {
    ...common,
    method: 'DELETE',
    path: '/users/:name',
    summary: 'Removes a user, and ends the sessions that its password has opened.',
    description:
      'A node keeps the last user of a file: without one no client could connect. A hub keeps those that are deployed with it.',
    parameters: named,
    answers: { 200: answer('What was ended.', ref('Ended')), 404: notFound, 501: noUsers },
  },
} as const satisfies Readonly<Record<string, Operation>>;
