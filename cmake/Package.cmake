# SPDX-License-Identifier: Apache-2.0
# Installs the files beside the program and makes the Debian package: cpack --config
# build/CPackConfig.cmake. Manual pages and completions are written from the command line's own
# definition, and the page about the policy from its JSON Schema. Python is searched for when it is
# needed, since it is installed only for those who make these files.
include(GNUInstallDirs)

set(package ${CMAKE_SOURCE_DIR}/deploy/package)
set(schema ${CMAKE_SOURCE_DIR}/config/levee.schema.json)
set(cli_docs ${CMAKE_BINARY_DIR}/cli-docs)
add_executable(levee_cli_docs ${package}/write_cli_docs.cc)
target_link_libraries(levee_cli_docs PRIVATE levee_cli levee_warnings)
add_custom_command(OUTPUT ${cli_docs}/written
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${cli_docs}
  COMMAND levee_cli_docs ${PROJECT_VERSION} ${cli_docs}
  COMMAND cat ${package}/levee.1.end >> ${cli_docs}/man/levee.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${cli_docs}/man5
  COMMAND python3 ${package}/write_config_page.py ${schema} ${PROJECT_VERSION}
    ${cli_docs}/man5/levee.yaml.5
  COMMAND gzip -9n --recursive ${cli_docs}/man ${cli_docs}/man5
  COMMAND gzip -9nc ${package}/changelog > ${cli_docs}/changelog.gz
  COMMAND ${CMAKE_COMMAND} -E touch ${cli_docs}/written
  DEPENDS levee_cli_docs ${package}/changelog ${package}/levee.1.end
    ${package}/write_config_page.py ${schema}
  COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(levee_docs ALL DEPENDS ${cli_docs}/written)

install(DIRECTORY ${cli_docs}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${cli_docs}/man5/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)
install(FILES ${cli_docs}/completions/bash/levee
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${cli_docs}/completions/zsh/_levee
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${cli_docs}/completions/fish/levee.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${package}/copyright ${cli_docs}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES config/levee.yaml ${schema} config/levee.scenario.schema.json README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES deploy/mixin/rules.yaml deploy/mixin/alerts.yaml deploy/mixin/old-names.yaml
  deploy/mixin/dashboard.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/levee)
install(DIRECTORY config/examples config/scenarios DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES deploy/systemd/levee.service DESTINATION lib/systemd/system)
install(FILES ${package}/levee.yaml DESTINATION /etc/levee)
install(FILES ${package}/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
  RENAME levee)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Levee authors <levee@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "gRPC sidecar that retries within a budget
Levee carries a service's outbound gRPC calls, retries what is worth retrying,
and keeps retries within a budget, so that they never become the outage. It
also has hedging, rate limits, and metrics that say why.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${package}/conffiles ${package}/postinst ${package}/prerm ${package}/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Keeps cpack from building the tests before it packs.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
include(CPack)
