import { useState } from 'react';
import type { PortalServer, PortalTopic } from './document/portal-document.ts';
import { filterOf, topicNameOf, type Values } from './document/topic-of.ts';
import { samplePayload } from './schema/sample-of.ts';
import { LANGUAGES, type Language, type Snippet, TOKEN_VARIABLE, type Wanted } from './snippets/snippet.ts';
import { snippetsFor } from './snippets/snippets.ts';
import { text } from './strings.ts';
import { Code } from './ui/code.tsx';

interface ProgramsProps {
  readonly topic: PortalTopic;
  readonly values: Values;
  readonly rewind: string | undefined;
  readonly server: PortalServer;
  readonly servers: readonly PortalServer[];
  onServer(name: string): void;
}

/** Programs that receive from the topic and publish to it. */
export function Programs({ topic, values, rewind, server, servers, onServer }: ProgramsProps) {
  const [language, setLanguage] = useState<Language>('javascript');
  const wanted: Wanted = {
    server,
    rewind,
    filter: filterOf(topic, values),
    topic: topicNameOf(topic, values),
    payload: samplePayload(topic),
    contentType: topic.contentType,
    packagesUrl: new URL('packages/', document.baseURI).href,
  };
  const snippets = snippetsFor(language, wanted);
  const isOfNeither = topic.publish === undefined && topic.subscribe === undefined;
  return (
    <>
      <div className="fields">
        {servers.length > 1 && (
          <label className="field">
            {text.server}
            <select value={server.name} onChange={({ target }) => onServer(target.value)}>
              {servers.map(({ name, url }) => (
                <option key={name} value={name}>{`${name} ${url}`}</option>
              ))}
            </select>
          </label>
        )}
        <fieldset className="choice">
          <legend>{text.language}</legend>
          {LANGUAGES.map((each) => (
            <label key={each}>
              <input
                type="radio"
                name="language"
                checked={each === language}
                onChange={() => setLanguage(each)}
              />
              {text.languages[each]}
            </label>
          ))}
        </fieldset>
      </div>
      {snippets === undefined ? (
        <p>{text.notAtGateway}</p>
      ) : (
        <>
          <Code name={text.install} head={text.install}>
            {snippets.receive.install}
          </Code>
          {language === 'shell' && rewind !== undefined && <p>{text.noPast}</p>}
          {server.asksForToken && <TokenPlace language={language} />}
          {(topic.subscribe !== undefined || isOfNeither) && (
            <Program title={text.receive} snippet={snippets.receive} />
          )}
          {(topic.publish !== undefined || isOfNeither) && (
            <>
              <Program title={text.publish} snippet={snippets.publish} />
              {wanted.payload === undefined && language !== 'react' && <p>{text.sendsFile}</p>}
            </>
          )}
        </>
      )}
    </>
  );
}

function TokenPlace({ language }: { readonly language: Language }) {
  if (language === 'react') return <p>{text.reactToken}</p>;
  return (
    <p>
      {text.putToken} <code>{`export ${TOKEN_VARIABLE}='YOUR-TOKEN'`}</code>
    </p>
  );
}

function Program({ title, snippet }: { readonly title: string; readonly snippet: Snippet }) {
  const place = snippet.file === undefined ? text.paste : text.saveAs(snippet.file);
  return (
    <>
      <h3>{title}</h3>
      <Code name={snippet.file ?? title} head={place}>
        {snippet.code}
      </Code>
    </>
  );
}
