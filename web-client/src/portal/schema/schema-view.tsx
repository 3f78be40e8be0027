import { useState } from 'react';
import { FIELDS_SHOWN, OPEN_FIELDS_MAX } from '../limits.ts';
import { schemaText } from '../strings.ts';
import { Prose } from '../ui/prose.tsx';
import { type SchemaChild, type SchemaNode, schemaNode } from './schema-node.ts';

interface SchemaViewProps {
  readonly schema: unknown;
  /** The document, for references out of the schema. */
  readonly root: unknown;
}

/** A JSON Schema as nested lists. A part is read when the reader opens it, so a recursive schema works as well. */
export function SchemaView({ schema, root }: SchemaViewProps) {
  const roots = [schema, root];
  const node = schemaNode(schema, roots);
  return (
    <div className="schema">
      <Node node={node} name={schemaText.ofPayload} roots={roots} depth={0} />
    </div>
  );
}

interface NodeProps {
  readonly node: SchemaNode;
  readonly name: string;
  readonly roots: readonly unknown[];
  readonly depth: number;
}

function Node({ node, name, roots, depth }: NodeProps) {
  const [isOpen, setOpen] = useState(depth === 0 || (depth === 1 && node.size <= OPEN_FIELDS_MAX));
  return (
    <>
      <span className="type">{node.type}</span>
      {node.constraints.map((constraint) => (
        <span className="constraint" key={constraint}>
          {constraint}
        </span>
      ))}
      {node.description !== undefined && <Prose>{node.description}</Prose>}
      {node.size > 0 && (
        <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{schemaText.fields(name, node.size)}</summary>
          {isOpen && <Children node={node} roots={roots} depth={depth + 1} />}
        </details>
      )}
    </>
  );
}

function Children({ node, roots, depth }: Omit<NodeProps, 'name'>) {
  const [shown, setShown] = useState(FIELDS_SHOWN);
  const children = node.children();
  const left = children.length - shown;
  return (
    <ul>
      {children.slice(0, shown).map((child, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: fields of one schema do not change places
        <li key={index}>
          <Child child={child} roots={roots} depth={depth} />
        </li>
      ))}
      {left > 0 && (
        <li>
          <button type="button" onClick={() => setShown(shown + FIELDS_SHOWN)}>
            {schemaText.more(left)}
          </button>
        </li>
      )}
    </ul>
  );
}

/** For a name that a stranger has written. */
const NAME_LENGTH_MAX = 200;

function Child({
  child,
  roots,
  depth,
}: Pick<NodeProps, 'roots' | 'depth'> & { readonly child: SchemaChild }) {
  const { isField, isRequired, schema } = child;
  const name = child.name.slice(0, NAME_LENGTH_MAX);
  return (
    <>
      {isField ? <code className="name">{name}</code> : <span className="name">{name}</span>}
      {isRequired && <span className="required">{schemaText.required}</span>}
      <Node node={schemaNode(schema, roots)} name={name} roots={roots} depth={depth} />
    </>
  );
}
