import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { apiPage, OPERATIONS, openApiDocument } from '../src/index.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

const document = openApiDocument() as Document;

/** The schemas that it refers to, as `schemas/Client`. */
const referred = new Set(
  [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name),
);

it('is an OpenAPI 3.1 document to a validator of others', async () => {
  const result = await new Validator().validate({ ...structuredClone(document) });
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

it('refers to what it has, and has no schema or parameter that nothing refers to', () => {
  const { schemas = {}, parameters = {}, responses = {} } = document.components;
  const has = Object.entries({ schemas, parameters, responses }).flatMap(([kind, all]) =>
    Object.keys(all).map((name) => `${kind}/${name}`),
  );
  for (const name of referred) expect(has).toContain(name);
  // Answers of paths and methods that are not there.
  const ofNone = ['responses/NotFound', 'responses/MethodNotAllowed'];
  expect(has.filter((name) => !referred.has(name))).toEqual(ofNone);
});

it('names every operation once, with the parameters of its path, and an answer of success', () => {
  const described = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(described).toHaveLength(Object.keys(OPERATIONS).length);
  for (const { path, parameters = {}, answers, summary } of Object.values(OPERATIONS)) {
    expect([...path.matchAll(/:(\w+)/g)].map(([, name]) => name)).toEqual(Object.keys(parameters));
    expect(Object.keys(answers).some((status) => status < '300')).toBe(true);
    expect(summary).toMatch(/\.$/);
  }
});

it('is the page of the documentation as well: `vitest run packages/api -u` writes it', async () => {
  await expect(apiPage()).toMatchFileSnapshot('../../../docs/api.md');
});
