// A worker: where the nodes of a map stand. The same graph always gives the same picture.
"use strict";
importScripts("d3-dispatch.min.js", "d3-timer.min.js", "d3-quadtree.min.js", "d3-force.min.js");

const TICKS = 130; // from alpha 1 down to 0.001
const SHOWN_EVERY_MS = 80;

onmessage = ({ data: { radii, edges } }) => {
  const nodes = Array.from(radii, (radius) => ({ radius }));
  const links = [];
  for (let at = 0; at < edges.length; at += 2) links.push({ source: edges[at], target: edges[at + 1] });
  const crowded = nodes.length > 300;
  const simulation = d3.forceSimulation(nodes).stop()
    .alphaDecay(1 - 0.001 ** (1 / TICKS))
    .force("charge", d3.forceManyBody().strength((node) => -22 - 5 * node.radius).theta(crowded ? 1.1 : 0.9).distanceMax(700))
    .force("link", d3.forceLink(links).distance(crowded ? 30 : nodes.length > 60 ? 46 : 80))
    .force("x", d3.forceX().strength(0.045))
    .force("y", d3.forceY().strength(0.06));
  if (nodes.length <= 600) simulation.force("collide", d3.forceCollide((node) => node.radius + 2));

  const send = (done) => {
    const places = new Float32Array(nodes.length * 2);
    nodes.forEach((node, n) => { places[2 * n] = node.x; places[2 * n + 1] = node.y; });
    postMessage({ places, done }, [places.buffer]);
  };
  let shown = performance.now();
  for (let tick = 0; tick < TICKS; tick++) {
    simulation.tick();
    if (performance.now() - shown > SHOWN_EVERY_MS) { send(false); shown = performance.now(); }
  }
  send(true);
};
