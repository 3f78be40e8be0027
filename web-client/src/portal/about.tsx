import type { PortalDocument } from './document/portal-document.ts';
import { text } from './strings.ts';
import { Prose } from './ui/prose.tsx';

interface AboutProps {
  readonly document: PortalDocument;
  /** The page's address names a topic that the document does not contain. */
  readonly unknown: string | undefined;
}

/** The facts that hold for all topics. */
export function About({ document, unknown }: AboutProps) {
  const { title, description, servers } = document;
  return (
    <>
      <h1>{title}</h1>
      {unknown !== undefined && (
        <p role="alert" className="error">
          {text.unknownTopic(unknown)}
        </p>
      )}
      {description !== undefined && <Prose>{description}</Prose>}
      <p>{document.topics.length === 0 ? text.empty : text.choose}</p>
      <h2>{text.getToken}</h2>
      <TokenHelp document={document} />
      {servers.length > 0 && (
        <>
          <h2>{text.servers}</h2>
          <dl>
            {servers.map(({ name, url, door }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <code>{url}</code> {door === 'gateway' ? text.doorGateway : text.doorNode}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  );
}

export function TokenHelp({ document: { token, servers } }: { readonly document: PortalDocument }) {
  if (token !== undefined) return <Prose>{token}</Prose>;
  const isOpen = servers.length > 0 && servers.every(({ asksForToken }) => !asksForToken);
  return <p>{isOpen ? text.noToken : text.tokenIsPassword}</p>;
}
