import { expect, test } from 'vitest';
import { jsonAnswer } from './json-answer.ts';

test.each([
  ['{"a":1}', '{"a":1}'],
  [' \n[1, 2]\n', '[1, 2]'],
  ['\uFEFF{"id":9007199254740993}', '{"id":9007199254740993}'],
  ['"text"', '"text"'],
  ['```json\n{"a":1}\n```', '{"a":1}'],
  ['```\n[]\n```', '[]'],
  ['```JSON\r\n{"a": "``"}\r\n```', '{"a": "``"}'],
  ['Here you are:\n```json\n{"a":1}\n```\nAnything else?', '{"a":1}'],
])('%j gives %j', (answer, json) => {
  expect(jsonAnswer(answer)).toEqual({ json });
});

test.each([
  ['', 'it is empty'],
  ['I cannot do that [1].', expect.any(String)],
  ['{"a":1', expect.any(String)],
  ['```json\n{"a":\n```', expect.any(String)],
  ['```json\n{"a":1}\n```\nor\n```json\n{"a":2}\n```', expect.any(String)],
])('%j is no JSON', (answer, mistake) => {
  expect(jsonAnswer(answer)).toEqual({ mistake });
});
