import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import { apiPage, OPERATIONS, openApiDocument } from '../src/index.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

const document = openApiDocument() as Document;

/** The schemas that the document refers to, as `schemas/Client`. */
const referred = new Set(
  [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name),
);

it('the document is valid OpenAPI 3.1 to an independent validator', async () => {
  const result = await new Validator().validate({ ...structuredClone(document) });
  expect(result.errors).toBeUndefined();
  expect(result.valid).toBe(true);
});

it('the document contains all that it refers to, and no unused schema or parameter', () => {
  const { schemas = {}, parameters = {}, responses = {} } = document.components;
  const has = Object.entries({ schemas, parameters, responses }).flatMap(([kind, all]) =>
    Object.keys(all).map((name) => `${kind}/${name}`),
  );
  for (const name of referred) expect(has).toContain(name);
  // Answers to paths and methods that do not exist.
  const ofNone = ['responses/NotFound', 'responses/MethodNotAllowed'];
  expect(has.filter((name) => !referred.has(name))).toEqual(ofNone);
});

it('the document names every operation once, with its path parameters and an answer of success', () => {
  const described = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(described).toHaveLength(Object.keys(OPERATIONS).length);
  for (const { path, parameters = {}, answers, summary } of Object.values(OPERATIONS)) {
    expect([...path.matchAll(/:(\w+)/g)].map(([, name]) => name)).toEqual(Object.keys(parameters));
    expect(Object.keys(answers).some((status) => status < '300')).toBe(true);
    expect(summary).toMatch(/\.$/);
  }
});

it('the page of the documentation is generated from it: `vitest run packages/api -u` writes it', async () => {
  await expect(apiPage()).toMatchFileSnapshot('../../../docs/generated/api.md');
});
