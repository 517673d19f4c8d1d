// Queries such as an expert writes, each begun at the run, so that they mean the same in a store of many runs.
// Rows come in the order of their ORDER BY; without one they are compared as a set.
MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN t.kind AS kind, count(*) AS n, sum(t.bytes) AS bytes ORDER BY kind
MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) WHERE t.wait_ns > 0 RETURN t.number AS number, t.wait_ns AS wait ORDER BY wait DESC, number LIMIT 5
MATCH (:Run {id: $run})-[:SENT]->(t) WITH t ORDER BY t.wait_ns DESC, t.number LIMIT 3 RETURN sum(t.wait_ns) AS wait, count(*) AS n
MATCH (:Run {id: $run})-[:SENT]->(t) WITH t ORDER BY t.bytes DESC, t.number SKIP 1 LIMIT 4 RETURN t.kind AS kind, max(t.bytes) AS most ORDER BY kind
MATCH (:Run {id: $run})-[:SENT]->(t)-[h:HOP]->(u:Use) RETURN u.resource AS resource, count(h) AS hops, sum(h.wait_ns) AS wait ORDER BY hops DESC, resource LIMIT 8
MATCH (:Run {id: $run})-[:SENT]->(t)-[h:HOP]->(u:Use)-[:OF]->(l:Link) RETURN l.kind AS kind, count(h) AS n, avg(h.service_ns) AS mean ORDER BY kind
MATCH (:Run {id: $run})-[:SENT]->(t) OPTIONAL MATCH (t)-[w:WAITED_FOR]->(o) RETURN t.number AS number, count(w) AS waits, coalesce(sum(w.ns), 0) AS ns ORDER BY number
MATCH (:Run {id: $run})-[:SENT]->(t) OPTIONAL MATCH (t)-[:CAUSED_BY]->(c) RETURN t.number AS number, c.number AS cause ORDER BY number
MATCH (:Run {id: $run})-[:SENT]->(t) WHERE NOT (t)-[:WAITED_FOR]->() RETURN count(t) AS n
MATCH (:Run {id: $run})-[:SENT]->(t) WHERE EXISTS { (t)-[w:WAITED_FOR]->() WHERE w.ns > 1 } RETURN t.number AS number ORDER BY number
MATCH (:Run {id: $run})-[:SENT]->(t) RETURN t.number AS number, COUNT { (t)-[:HOP]->() } AS hops ORDER BY number LIMIT 10
MATCH (:Run {id: $run})-[:SENT]->(t) RETURN t.number AS number, size([(t)-[h:HOP]->(u) WHERE h.wait_ns > 0 | u.resource]) AS places ORDER BY number
MATCH (:Run {id: $run})-[:SENT]->(t) CALL (t) { MATCH (t)-[h:HOP]->() RETURN max(h.wait_ns) AS worst } RETURN t.number AS number, worst ORDER BY number
MATCH (:Run {id: $run})-[:SENT]->(t) CALL (t) { MATCH (t)-[h:HOP]->(u) RETURN u.resource AS first ORDER BY h.seq LIMIT 1 } RETURN first, count(*) AS n ORDER BY n DESC, first
MATCH (:Run {id: $run})-[:SENT]->(t)-[:WAITED_FOR*1..3]->(o) RETURN count(*) AS walks, count(DISTINCT o.number) AS holders
MATCH p = (t:Transaction)-[:WAITED_FOR*1..4]->(o:Transaction) MATCH (:Run {id: $run})-[:SENT]->(t) RETURN length(p) AS steps, count(*) AS n ORDER BY steps
MATCH (:Run {id: $run})-[:SENT]->(t)-[:WAITED_FOR*1..2]-(o) RETURN count(*) AS n
MATCH p = (:Run {id: $run})-[:SENT]->(t {number: 0})-[:HOP]->(u) RETURN length(p) AS steps, [n IN nodes(p) | labels(n)[0]] AS labels, u.resource AS resource ORDER BY resource
MATCH (:Run {id: $run})-[:SENT]->(t) WITH percentileCont(t.wait_ns, 0.5) AS median, percentileDisc(t.wait_ns, 0.9) AS p90 RETURN median, p90
MATCH (:Run {id: $run})-[:SENT]->(t) RETURN t.kind AS kind, percentileCont(t.t_done - t.t_submit, 0.75) AS q ORDER BY kind
MATCH (:Run {id: $run})-[:SENT]->(t) RETURN CASE WHEN t.bytes > 64 THEN 'large' ELSE 'small' END AS size, count(*) AS n ORDER BY size
MATCH (:Run {id: $run})-[:SENT]->(t) RETURN CASE t.kind WHEN 'dma_read' THEN 1 WHEN 'dma_write' THEN 2 ELSE 0 END AS code, count(*) AS n ORDER BY code
MATCH (:Run {id: $run})-[:LAUNCHED]->(l) RETURN l.kernel AS name UNION MATCH (:Run {id: $run})-[:SENT]->(t) RETURN t.kind AS name
MATCH (:Run {id: $run})-[:LAUNCHED]->(l) RETURN 'launch' AS what, count(*) AS n UNION ALL MATCH (:Run {id: $run})-[:SENT]->(t) RETURN 'transaction' AS what, count(*) AS n
MATCH (:Run {id: $run})-[:SENT]->(t) WITH t ORDER BY t.number RETURN collect(t.number)[0..5] AS first, collect(t.kind)[-1] AS last
MATCH (:Run {id: $run})-[:SENT]->(t) WITH collect(t.bytes) AS sizes RETURN reduce(s = 0, x IN sizes | s + x) AS total, size(sizes) AS n
MATCH (:Run {id: $run})-[:SENT]->(t) WITH t ORDER BY t.number WITH collect(t.wait_ns) AS waits RETURN [w IN waits WHERE w > 0 | w * 2] AS doubled
MATCH (:Run {id: $run})-[:SENT]->(t) WITH collect(t.wait_ns) AS waits RETURN any(w IN waits WHERE w > 1) AS some, all(w IN waits WHERE w >= 0) AS every, none(w IN waits WHERE w < 0) AS no, single(w IN waits WHERE w > 1e9) AS one
MATCH (:Run {id: $run})-[:SENT]->(t) WITH t ORDER BY t.number LIMIT 3 RETURN t{.number, .kind, late: t.wait_ns > 0} AS m
MATCH (:Run {id: $run})-[:SENT]->(t) WITH t ORDER BY t.number LIMIT 2 RETURN keys(t) = keys(t) AS same, properties(t).bytes AS bytes
MATCH (:Run {id: $run})-[:SENT]->(t)-[h:HOP]->(u) WITH t, h ORDER BY t.number, h.seq WITH t, collect(h.seq) AS seqs RETURN t.number AS number, seqs[1] AS second, head(seqs) AS first, last(seqs) AS last, size(tail(seqs)) AS rest ORDER BY number
MATCH (:Run {id: $run})-[:SENT]->(t) UNWIND [t.t_submit, t.t_done] AS time RETURN min(time) AS first, max(time) AS last
UNWIND range(1, 5) AS i WITH i WHERE i % 2 = 1 RETURN i AS i, i * i AS square, toFloat(i) / 2 AS half ORDER BY i
UNWIND [3, null, 1, 2] AS x RETURN x AS x ORDER BY x
UNWIND ['b', 'a', 'B'] AS s RETURN toUpper(s) AS s, count(*) AS n ORDER BY s
RETURN substring('hello', 1, 3) AS part, left('hello', 2) AS l, right('hello', 2) AS r, split('a,b', ',') AS parts, replace('aXb', 'X', '-') AS joined, trim(' x ') AS x
RETURN [10, 20, 30][1] AS x, [1, 2, 3, 4][1..3] AS y, [1, 2, 3][-1] AS z, [1, 2][5] AS gone
RETURN 7 / 2 AS i, 7 % 3 AS m, -7 / 2 AS n, 7.0 / 2 AS f, 2 ^ 3 AS p, toInteger(-1.6) AS t, round(2.5) AS r, sign(-3) AS s
RETURN null = null AS a, null IN [1] AS b, 4 IN [1, null] AS c, [1, null] = [1, 2] AS d, NOT null AS e, null AND false AS f
RETURN '1' = 1 AS a, 1 = 1.0 AS b, 'a' < 'b' AS c, coalesce(null, 3) AS d, 'abc' STARTS WITH 'a' AS e, 'abc' =~ 'a.*' AS f
MATCH (:Run {id: $run})-[:SENT]->(t) WHERE t.number > 100000 RETURN sum(t.bytes) AS s, count(t) AS n, collect(t.number) AS l, avg(t.bytes) AS a, max(t.bytes) AS m
MATCH (:Run {id: $run})-[:SENT]->(t) RETURN count(DISTINCT t.kind) AS kinds, sum(DISTINCT t.bytes) AS bytes
MATCH (:Run {id: $run})-[:SENT]->(t) WITH t.kind AS kind, count(*) AS n WHERE n > 1 RETURN kind, n ORDER BY n DESC, kind
MATCH (:Run {id: $run})-[:SENT]->(t) WITH t.number AS x WITH 10 - x AS x ORDER BY x LIMIT 3 RETURN collect(x) AS xs
MATCH (:Run {id: $run})-[:SENT]->(t)-[:FROM]->(u), (t)-[:TO]->(v) RETURN u.resource AS source, v.resource AS target, count(*) AS n ORDER BY source, target
MATCH (r:Run {id: $run})-[:SENT]->(a)-[:FROM]->(u)<-[:FROM]-(b)<-[:SENT]-(r) RETURN count(*) AS pairs
MATCH (r:Run {id: $run})-[:SENT]->(a:Transaction), (r)-[:SENT]->(b:Transaction) WHERE a.number < b.number AND a.t_submit = b.t_submit RETURN count(*) AS together
MATCH (:Run {id: $run})-[:SENT]->(t)-[x:HOP]->(u)<-[y:HOP]-(o) WHERE x.t_start < y.t_start AND y.t_start < x.t_out RETURN count(*) AS overlaps
MATCH (:Run {id: $run})-[:SENT]->(t)-[:TOOK]->(q:Route)-[v:VIA]->(u) WITH q, u ORDER BY v.seq WITH q, collect(DISTINCT u.resource) AS way RETURN q.number AS number, size(way) AS hops, head(way) AS first ORDER BY number
MATCH (:Run {id: $run})-[:RAN_ON]->(m:Topology) MATCH (m)-[:CONTAINS*1..2]->(c) RETURN c.kind AS kind, count(*) AS n ORDER BY kind
MATCH (:Run {id: $run})-[:RAN_ON]->(m:Topology)-[:CONTAINS*]->(c:Component:Router) RETURN count(DISTINCT c) AS routers
MATCH (:Run {id: $run})-[:RAN_ON]->(m)-[:CONTAINS*]->(c) WHERE c:Router OR c:Cube RETURN c.label AS label, count(*) AS n ORDER BY label
MATCH (r:Run {id: $run})-[:USED]->(:Use {kind: 'pe_dma'})-[:OF]->(a), (r)-[:USED]->(:Use {kind: 'hbm_ctrl'})-[:OF]->(b) MATCH p = shortestPath((a)-[:CONNECTS*]->(b)) RETURN a.name AS a, b.name AS b, length(p) AS hops ORDER BY a, b
MATCH (r:Run {id: $run})-[:USED]->(:Use {kind: 'pe_dma'})-[:OF]->(a)-[:CONNECTS*1..2]->(b) RETURN b.name AS b, count(*) AS ways ORDER BY b
MATCH (:Run {id: $run})-[:USED]->(u)-[:OF]->(c) RETURN labels(c)[0] AS label, count(u) AS n, max(u.utilisation) AS most ORDER BY label
MATCH (:Run {id: $run})-[:LAUNCHED]->(l)-[:DID]->(o) OPTIONAL MATCH (o)-[d:DEPENDS_ON]->(on) RETURN l.number AS launch, o.name AS name, count(DISTINCT o.number) AS ops, count(on) AS needs ORDER BY launch, name
MATCH (:Run {id: $run})-[:LAUNCHED]->()-[:DID]->(o) MATCH p = (o)-[:DEPENDS_ON*0..3]->(x) RETURN o.number AS number, max(length(p)) AS depth ORDER BY number
MATCH (:Run {id: $run})-[:LAUNCHED]->()-[:DID]->(o)-[:AWAITED]->(t) RETURN o.name AS name, sum(t.t_done - t.t_submit) AS ns ORDER BY name
MATCH (:Run {id: $run})-[:HOLDS]->(x) OPTIONAL MATCH (o:Op)-[a:READ_FROM|WROTE_TO]->(x) RETURN x.name AS tensor, type(a) AS how, sum(a.bytes) AS bytes ORDER BY tensor, how
MATCH (r:Run {id: $run}) RETURN r.bench AS bench, r.sim_ns > 0 AS ran
MATCH (r:Run {id: $run}) RETURN size(keys(r)) > 10 AS many, r.mm IS NULL AS absent, r['bench'] AS bench
MATCH (:Run {id: $run})-[:SENT]->(t)-[h:HOP]->() WITH t, h ORDER BY h.seq WITH t, collect(h) AS hops UNWIND range(0, size(hops) - 2) AS i WITH hops[i] AS a, hops[i + 1] AS b RETURN max(b.t_in - a.t_out) AS gap, count(*) AS n
