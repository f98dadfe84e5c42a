#if canImport(Testing)
    import Foundation
    import Testing

    /// The outcome of one case.
    package enum CaseOutcome: Sendable, Equatable {
        /// The library did what the case expects.
        case passed
        /// The library has no such function or option.
        ///
        /// The sentence names it.
        case notApplicable(String)
        /// The library intentionally behaves differently.
        ///
        /// The sentence describes how.
        case differs(String)
        /// The library behaved differently from the case.
        case failed(String)

        /// Compares texts.
        package static func compare(_ actual: String?, _ expected: String?) -> CaseOutcome {
            actual == expected ? .passed : .failed("got \(actual ?? "nothing"), expected \(expected ?? "nothing")")
        }

        /// Compares URLs or parts of them.
        ///
        /// If they differ only in escaping, `reason` is the reported difference.
        package static func compare(_ actual: String?, _ expected: String?, escaping reason: String) -> CaseOutcome {
            let decoded = (actual.map(PercentText.bytes), expected.map(PercentText.bytes))
            return compare(actual, expected).or(reason, if: decoded.0 != nil && decoded.0 == decoded.1)
        }

        /// The outcome, with a failure turned into an intended difference.
        package func or(_ reason: String, if isDeliberate: Bool = true) -> CaseOutcome {
            guard isDeliberate, case .failed = self else { return self }
            return .differs(reason)
        }
    }

    /// A file of conformance cases, collected from test suites of other projects.
    ///
    /// Rules on the content of a case decide which differences are intended, never its id. So further cases of the same
    /// kind are judged equally.
    package struct CaseFile {
        package var name: String
        package var cases: [CaseValue]

        package init(_ name: String) throws {
            self.name = name
            cases = try #require(Self.root(of: name)["cases"]?.array)
        }

        /// The whole content of a file.
        package static func root(of name: String) throws -> CaseValue {
            let url = try #require(
                Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "CaseFiles")
            )
            return try CaseReader.read(String(decoding: try Data(contentsOf: url), as: UTF8.self))
        }

        /// Runs every case, prints the counts and the reasons, and fails for every case that failed.
        ///
        /// - Parameters:
        ///   - keys: The keys that the judge reads. A case with any other key is not judged.
        ///   - judge: Returns the outcome of a case.
        package func run(reading keys: CaseKeys? = nil, _ judge: (CaseValue) throws -> CaseOutcome) {
            report(
                cases.map { item in
                    do { return try keys?.objection(to: item) ?? judge(item) } catch { return Self.outcome(of: error) }
                }
            )
        }

        /// Runs every case with an asynchronous judge.
        package func runAsync(reading keys: CaseKeys? = nil, _ judge: (CaseValue) async throws -> CaseOutcome) async {
            var outcomes: [CaseOutcome] = []
            for item in cases {
                if let objection = keys?.objection(to: item) {
                    outcomes.append(objection)
                    continue
                }
                do { outcomes.append(try await judge(item)) } catch { outcomes.append(Self.outcome(of: error)) }
            }
            report(outcomes)
        }

        private static func outcome(of error: any Error) -> CaseOutcome {
            (error as? CaseParameters.Unknown).map { .notApplicable($0.what) } ?? .failed("threw \(error)")
        }

        private func report(_ outcomes: [CaseOutcome]) {
            var passed = 0
            var notApplicable: [String: Int] = [:]
            var differing: [String: Int] = [:]
            var failures: [String] = []
            for (item, outcome) in zip(cases, outcomes) {
                let id = item["id"]?.string ?? "?"
                switch outcome {
                case .passed: passed += 1
                case .notApplicable(let reason): notApplicable[reason, default: 0] += 1
                case .differs(let reason): differing[reason, default: 0] += 1
                case .failed(let reason): failures.append("\(id): \(reason)")
                }
            }
            print(summary(passed, notApplicable, differing, failures.count))
            for failure in failures { Issue.record("\(name) \(failure)") }
        }

        private func summary(
            _ passed: Int,
            _ notApplicable: [String: Int],
            _ differing: [String: Int],
            _ failed: Int
        ) -> String {
            let counts = [
                "\(passed) passed", "\(notApplicable.values.reduce(0, +)) not applicable",
                "\(differing.values.reduce(0, +)) deliberate differences", "\(failed) failed",
            ]
            var lines = ["cases \(name): \(counts.joined(separator: ", "))"]
            for (kind, reasons) in [("not applicable", notApplicable), ("difference", differing)] {
                lines += reasons.sorted { $0.key < $1.key }.map { "  \(kind) (\($0.value)): \($0.key)" }
            }
            return lines.joined(separator: "\n")
        }
    }
#endif
